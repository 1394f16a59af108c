import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { listPolicyVersions } from "../../api/operations";
import type { PolicyInForce } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { textOf } from "../../lib/policy-text";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { Diff } from "./diff";

type Props = { inForce: PolicyInForce; onTake: (version: number, document: unknown) => void };

/** Who put which version in force when, what it changed from the one before, and the way back to it. */
export function Versions({ inForce, onTake }: Props) {
  const { t, n } = useText();
  const me = useMe();
  const [shown, setShown] = useState<number | null>(null);
  const versions = useInfiniteQuery({
    queryKey: ["policy-versions"],
    queryFn: ({ pageParam }) => listPolicyVersions(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const chosen = rows.find((one) => one.version === shown);
  const take = (one: PolicyInForce) => {
    onTake(one.version, one.document);
    window.scrollTo({ top: 0 });
  };
  return (
    <Section title={t("policy.versions")}>
      <Answer of={versions}>
        {() =>
          rows.length === 0 ? (
            <Nothing why={t("rules.defaults")} next={t("policy.no_versions_next")} />
          ) : (
            <>
              <DataTable
                label={t("policy.versions")}
                rows={rows}
                rowKey={(one) => String(one.version)}
                columns={[
                  { key: "version", head: t("policy.version"), number: true, cell: (one) => n(one.version) },
                  { key: "who", head: t("field.user"), cell: (one) => one.created_by?.display_name ?? "–" },
                  { key: "when", head: t("field.time"), cell: (one) => <When at={one.created_at} /> },
                  {
                    key: "acts",
                    head: t("nodes.actions"),
                    wide: true,
                    cell: (one) => (
                      <span className="button-row">
                        <Button
                          size="small"
                          aria-pressed={shown === one.version}
                          aria-label={t("policy.compare_label", { version: n(one.version) })}
                          onClick={() => setShown(shown === one.version ? null : one.version)}
                        >
                          {t("policy.compare")}
                        </Button>
                        {isAdmin(me.data) && one.version !== inForce.version && (
                          <Button
                            size="small"
                            aria-label={t("policy.take_label", { version: n(one.version) })}
                            onClick={() => take(one)}
                          >
                            {t("policy.take")}
                          </Button>
                        )}
                      </span>
                    ),
                  },
                ]}
              />
              {versions.hasNextPage && (
                <Button className="more" onClick={() => void versions.fetchNextPage()}>
                  {t("action.more")}
                </Button>
              )}
              {chosen && (
                <>
                  <h3>
                    {t("policy.compared", { version: n(chosen.version), in_force: n(inForce.version) })}
                  </h3>
                  <Diff before={textOf(chosen.document)} after={textOf(inForce.document)} />
                </>
              )}
            </>
          )
        }
      </Answer>
    </Section>
  );
}
