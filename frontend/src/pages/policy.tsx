import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { showPolicy } from "../api/operations";
import { Answer } from "../components/feedback";
import { Page } from "../components/page";
import { textOf } from "../lib/policy-text";
import { useText } from "../lib/use-text";
import { AdminMenu } from "./admin/admin-menu";
import { Editor } from "./policy/editor";
import { EffectiveRules } from "./policy/effective-rules";
import { Versions } from "./policy/versions";

/** Which rules hold, what a change would do, and who changed them when. */
export function PolicyPage() {
  const { t } = useText();
  const search = useSearch({ from: "/admin/policy" });
  const navigate = useNavigate({ from: "/admin/policy" });
  const policy = useQuery({ queryKey: ["policy"], queryFn: showPolicy });
  // What the editor begins with: the policy in force, or an older version that is to come back.
  const [start, setStart] = useState<{ text: string; from: number } | null>(null);
  return (
    <Page title={t("admin.policy")}>
      <AdminMenu />
      <Answer of={policy}>
        {(inForce) => (
          <>
            <Editor
              key={`${inForce.version}/${start?.from ?? ""}`}
              inForce={inForce}
              view={search.as ?? "form"}
              onView={(view) =>
                void navigate({ search: { as: view === "form" ? undefined : view }, replace: true })
              }
              start={start?.text ?? textOf(inForce.document)}
              onSaved={() => setStart(null)}
            />
            <EffectiveRules version={inForce.version} />
            <Versions
              inForce={inForce}
              onTake={(version, document) => setStart({ text: textOf(document), from: version })}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}
