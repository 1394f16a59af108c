import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button, Input, Segmented } from "antd";
import { useId, useMemo, useState } from "react";
import { askWhatIf, putPolicy } from "../../api/operations";
import { Problem } from "../../api/problem";
import type { PolicyInForce, WhatIf } from "../../api/views";
import { ProblemAlert } from "../../components/feedback";
import { Section } from "../../components/page";
import { WhatIfDifference } from "../../components/what-if-difference";
import { When } from "../../components/when";
import { asDocument, parsePolicy, textOf } from "../../lib/policy-text";
import { useText } from "../../lib/use-text";
import { touchesOthers } from "../../lib/what-if";
import { isAdmin, useMe } from "../../session";
import { Diff } from "./diff";
import { PolicyForm } from "./policy-form";

export const EDITOR_VIEWS = ["form", "text"] as const;
export type EditorView = (typeof EDITOR_VIEWS)[number];

type Props = {
  inForce: PolicyInForce;
  start: string;
  view: EditorView;
  onView: (view: EditorView) => void;
  onSaved: () => void;
};

/** The document as a form, or as text for those who know it; both change the same. It is saved only after a dry run of exactly this text on the live state. */
export function Editor({ inForce, start, view, onView, onSaved }: Props) {
  const { t, n } = useText();
  const id = useId();
  const me = useMe();
  const client = useQueryClient();
  const [text, setText] = useState(start);
  const parsed = useMemo(() => parsePolicy(text), [text]);
  const document = "document" in parsed ? parsed.document : null;
  const before = useMemo(() => textOf(inForce.document), [inForce.document]);
  const after = document ? textOf(document) : text;
  const changed = after !== before;

  const dryRun = useMutation({
    mutationFn: async (policy: Record<string, unknown>) => {
      try {
        return {
          text: textOf(policy),
          answer: await askWhatIf([{ policy: policy as Record<string, never> }]),
        };
      } catch (error) {
        throw error instanceof Problem ? new Problem(asDocument(error.body)) : error;
      }
    },
  });
  const save = useMutation({
    mutationFn: (policy: Record<string, unknown>) => putPolicy(inForce.version, policy),
    onSuccess: (saved) => {
      client.setQueryData(["policy"], saved);
      void client.invalidateQueries({ queryKey: ["policy-versions"] });
      void client.invalidateQueries({ queryKey: ["policy-effective"] });
      onSaved();
    },
  });
  const tried = dryRun.data !== undefined && !dryRun.error && dryRun.data.text === after;
  const admin = isAdmin(me.data);
  return (
    <Section
      title={t("policy.document")}
      className="policy-editor"
      extra={
        <Segmented<EditorView>
          aria-label={t("policy.edit_as")}
          name="policy-view"
          value={view}
          options={EDITOR_VIEWS.map((value) => ({ value, label: t(`policy.as_${value}`) }))}
          onChange={onView}
        />
      }
    >
      <p className="quiet">
        {inForce.version === 0 ? t("rules.defaults") : t("rules.version", { version: n(inForce.version) })}{" "}
        {inForce.created_by && t("event.by", { who: inForce.created_by.display_name })}{" "}
        {inForce.created_at && <When at={inForce.created_at} />}
      </p>
      {view === "form" && document ? (
        <PolicyForm doc={document} onChange={(doc) => setText(textOf(doc))} readOnly={!admin} />
      ) : (
        <>
          <label htmlFor={id}>{t("policy.text")}</label>
          <Input.TextArea
            id={id}
            className="code"
            rows={20}
            spellCheck={false}
            readOnly={!admin}
            value={text}
            aria-invalid={document === null}
            onChange={(event) => setText(event.target.value)}
          />
        </>
      )}
      {"message" in parsed && (
        <p className="bad-text" role="alert">
          {parsed.line === null
            ? t("policy.unreadable", { message: parsed.message })
            : t("policy.unreadable_line", { line: n(parsed.line), message: parsed.message })}
        </p>
      )}
      {!admin && <p className="quiet">{t("policy.admins_only")}</p>}
      <div className="button-row policy-actions">
        <Button
          onClick={() => document && dryRun.mutate(document)}
          loading={dryRun.isPending}
          disabled={document === null || !changed}
        >
          {t("policy.dry_run")}
        </Button>
        {admin && (
          <Button
            type="primary"
            onClick={() => document && save.mutate(document)}
            loading={save.isPending}
            disabled={!tried || !changed}
          >
            {t("policy.save")}
          </Button>
        )}
        <Button onClick={() => setText(before)} disabled={text === before}>
          {t("policy.reset")}
        </Button>
        {changed && !tried && document && <span className="quiet">{t("policy.try_first")}</span>}
      </div>
      {changed && document && (
        <>
          <h3>{t("policy.difference")}</h3>
          <Diff before={before} after={after} />
        </>
      )}
      <div aria-live="polite">
        {save.error ? (
          <ProblemAlert
            error={save.error}
            onRetry={() => void client.invalidateQueries({ queryKey: ["policy"] })}
          />
        ) : null}
        {dryRun.error ? <ProblemAlert error={dryRun.error} /> : null}
        {tried && dryRun.data && <DryRun answer={dryRun.data.answer} />}
      </div>
    </Section>
  );
}

/** What the policy would change on the live state, once all has settled. */
function DryRun({ answer }: { answer: WhatIf }) {
  const { t, n } = useText();
  return (
    <>
      <h3>{t("policy.would")}</h3>
      <p className="verdict">
        {touchesOthers(answer)
          ? t("policy.would_sum", {
              starts: n(answer.starts.total),
              lost: n(answer.lost_starts.total),
              evictions: n(answer.evictions.total),
              loans: n(answer.loans.total),
            })
          : t("policy.would_nothing")}
      </p>
      <WhatIfDifference answer={answer} />
      {!answer.at_rest && <p className="bad-text">{t("whatif.not_at_rest")}</p>}
      <p className="quiet">
        {t("verdict.as_of")} <When at={answer.as_of} short />
      </p>
    </>
  );
}
