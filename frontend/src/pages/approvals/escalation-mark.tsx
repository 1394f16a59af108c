import type { Escalation } from "../../api/approvals";
import { AlertIcon, CheckIcon, ClockIcon, CrossIcon, PlayIcon, StopIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { useText } from "../../lib/use-text";

const MARKS = {
  requested: ["pending", ClockIcon],
  in_review: ["pending", ClockIcon],
  approved: ["lent", CheckIcon],
  active: ["used", PlayIcon],
  expired: ["free", CheckIcon],
  revoked: ["bad", StopIcon],
  denied: ["bad", CrossIcon],
  withdrawn: ["free", StopIcon],
  timed_out: ["borrowed", AlertIcon],
} as const;

export function EscalationMark({ one }: { one: Pick<Escalation, "state" | "break_glass"> }) {
  const { t, word } = useText();
  const [tone, Icon] = MARKS[one.state as keyof typeof MARKS] ?? ["free", ClockIcon];
  return (
    <>
      <Mark tone={tone} icon={<Icon />}>
        {word("escalation_state", one.state)}
      </Mark>
      {one.break_glass && (
        <>
          {" "}
          <Mark tone="bad" icon={<AlertIcon />}>
            {t("approval.break_glass")}
          </Mark>
        </>
      )}
    </>
  );
}
