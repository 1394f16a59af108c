import type { Escalation, Step } from "../../api/approvals";
import { Nothing } from "../../components/feedback";
import { CheckIcon, ClockIcon, CrossIcon } from "../../components/icons";
import { DataTable } from "../../components/table";
import { Mark } from "../../components/tags";
import { When } from "../../components/when";
import { seatText, termsText } from "../../lib/terms";
import { useText } from "../../lib/use-text";

/** Who may decide which step, and who has. */
export function Steps({ one }: { one: Escalation }) {
  const text = useText();
  const { t, n } = text;
  if (one.steps.length === 0)
    return (
      <Nothing
        why={t(one.break_glass ? "approval.no_steps_emergency" : "approval.no_steps")}
        next={one.rule}
      />
    );
  return (
    <DataTable
      label={t("approval.steps")}
      rows={one.steps}
      rowKey={(step) => String(step.number)}
      columns={[
        { key: "number", head: t("approval.step"), number: true, cell: (step) => n(step.number) },
        {
          key: "who",
          head: t("approval.who_decides"),
          wide: true,
          cell: (step) => (
            <>
              {step.any_of.map((seat) => seatText(seat, text)).join(t("approval.or"))}
              {step.delegations.map((one) => (
                <div key={one.to.id} className="quiet">
                  {t("approval.delegated", { to: one.to.display_name, by: one.by.display_name })}
                </div>
              ))}
            </>
          ),
        },
        {
          key: "decision",
          head: t("approval.decision"),
          cell: (step) => (
            <Decision step={step} waits={one.state === "in_review" && one.step === step.number} />
          ),
        },
        {
          key: "left",
          head: t("approval.granted"),
          cell: (step) => (step.granted ? termsText(step.granted, text) : "–"),
        },
        { key: "by", head: t("field.user"), cell: (step) => step.decided_by?.display_name ?? "–" },
        { key: "at", head: t("field.time"), cell: (step) => <When at={step.decided_at} /> },
        { key: "comment", head: t("approval.comment"), cell: (step) => step.comment ?? "–" },
      ]}
    />
  );
}

function Decision({ step, waits }: { step: Step; waits: boolean }) {
  const { t } = useText();
  if (step.decision === "approved")
    return (
      <Mark tone="good" icon={<CheckIcon />}>
        {t("approval.approved")}
      </Mark>
    );
  if (step.decision === "denied")
    return (
      <Mark tone="bad" icon={<CrossIcon />}>
        {t("approval.denied")}
      </Mark>
    );
  if (waits)
    return (
      <Mark tone="pending" icon={<ClockIcon />}>
        {t("approval.waits")}
      </Mark>
    );
  return <span className="quiet">–</span>;
}
