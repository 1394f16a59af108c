import type { Eviction } from "../../api/views";
import { toneOfOutcome } from "../../components/tags";
import { useNow } from "../../components/when";
import { secondsBetween } from "../../lib/format";
import { leaveSpan } from "../../lib/leave-span";
import { useText } from "../../lib/use-text";

/** One eviction from notice over grace to done, coloured by its outcome; the words say the same. */
export function LeaveBar({ eviction }: { eviction: Eviction }) {
  const { t, time, duration, word } = useText();
  const now = useNow();
  const span = leaveSpan(eviction, now);
  const grace = duration(secondsBetween(eviction.notified_at, eviction.leave_by));
  const words = eviction.vacated_at
    ? t("leave.done", {
        notified: time(eviction.notified_at),
        grace,
        took: duration(secondsBetween(eviction.notified_at, eviction.vacated_at)),
        outcome: word("outcome", eviction.outcome),
      })
    : t("leave.open", { notified: time(eviction.notified_at), grace });
  const saved = eviction.checkpointed_at
    ? t("leave.saved", { at: time(eviction.checkpointed_at) })
    : t("leave.unsaved");
  return (
    <div className="leave">
      <svg width="100%" height="18" role="img" aria-label={`${words} ${saved}`}>
        <rect className="leave-grace" x="0" y="5" width={`${span.graceTo}%`} height="8" />
        <rect
          className={`leave-used tone-${toneOfOutcome(eviction.outcome)}`}
          x="0"
          y="3"
          width={`${span.leftAt}%`}
          height="12"
        />
        <line className="limit-mark" x1={`${span.graceTo}%`} x2={`${span.graceTo}%`} y1="0" y2="18" />
        {span.checkpointAt != null && (
          <circle className="leave-saved" cx={`${span.checkpointAt}%`} cy="9" r="4" />
        )}
      </svg>
      <div className={span.late ? "bad-text" : "quiet"} aria-hidden="true">
        {words} {saved}
      </div>
    </div>
  );
}
