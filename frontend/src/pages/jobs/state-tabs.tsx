import { JOB_STATES, type JobCounts, type JobState } from "../../api/views";
import { useText } from "../../lib/use-text";

type Props = {
  counts: JobCounts | null;
  chosen: JobState[] | undefined;
  onChoose: (state: JobState[] | undefined) => void;
};

/** States with counts that obey the other filters; several may be on at once. */
export function StateTabs({ counts, chosen, onChoose }: Props) {
  const { t, n, word } = useText();
  const toggle = (state: JobState) => {
    const next = chosen?.includes(state) ? chosen.filter((one) => one !== state) : [...(chosen ?? []), state];
    onChoose(next.length ? next : undefined);
  };
  return (
    <fieldset className="state-tabs">
      <legend className="hidden">{t("jobs.by_state")}</legend>
      <button type="button" aria-pressed={!chosen} onClick={() => onChoose(undefined)}>
        {t("jobs.all")}
      </button>
      {JOB_STATES.map((state) => (
        <button
          key={state}
          type="button"
          className={`state-${state}`}
          aria-pressed={chosen?.includes(state) ?? false}
          onClick={() => toggle(state)}
        >
          {word("state", state)}
          {counts && <span className="count">{n(counts[state] ?? 0)}</span>}
        </button>
      ))}
    </fieldset>
  );
}
