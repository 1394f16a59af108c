import type { Operation } from "../../api/money";
import { CheckIcon, ClockIcon, CrossIcon, PlayIcon, StopIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { useText } from "../../lib/use-text";

const MARKS = {
  queued: ["pending", ClockIcon],
  running: ["used", PlayIcon],
  succeeded: ["good", CheckIcon],
  failed: ["bad", CrossIcon],
  cancelled: ["free", StopIcon],
} as const;

/** Long work as a strip: its steps, how far it is; read from the server, so that it survives a reload. */
export function OperationStrip({ one }: { one: Operation }) {
  const { t, n, word } = useText();
  const [tone, Icon] = MARKS[one.state as keyof typeof MARKS] ?? ["free", ClockIcon];
  const busy = one.state === "queued" || one.state === "running";
  return (
    <>
      <Mark tone={tone} icon={<Icon />}>
        {word("operation_state", one.state)}
      </Mark>{" "}
      {busy && (
        <progress
          max={100}
          {...(one.percent == null ? {} : { value: one.percent })}
          aria-label={word("operation_state", one.state)}
        />
      )}{" "}
      <span className="quiet">
        {one.total_rows == null
          ? t("export.rows", { rows: n(one.done_rows) })
          : t("export.rows_of", { rows: n(one.done_rows), all: n(one.total_rows) })}
      </span>
      {one.steps.length > 0 && (
        <ol className="steps">
          {one.steps.map((step) => (
            <li key={step.name} className={`step-${step.state}`}>
              {word("export_step", step.name)} <span className="quiet">{word("step_state", step.state)}</span>
            </li>
          ))}
        </ol>
      )}
      {one.error && <div className="bad-text">{one.error}</div>}
    </>
  );
}
