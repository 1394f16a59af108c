import type { Eviction } from "../api/views";

export type LeaveSpan = {
  /** Percent of the drawn width. */
  graceTo: number;
  leftAt: number;
  checkpointAt: number | null;
  /** Left after its grace was over. */
  late: boolean;
  /** Still leaving. */
  open: boolean;
};

/** Notice → grace → done of one eviction, in percent of the time from `from` to `to` (ms). */
export function leaveSpan(
  eviction: Pick<Eviction, "notified_at" | "leave_by" | "vacated_at" | "checkpointed_at">,
  now: number,
): LeaveSpan {
  const start = Date.parse(eviction.notified_at);
  const grace = Date.parse(eviction.leave_by);
  const left = eviction.vacated_at == null ? now : Date.parse(eviction.vacated_at);
  const width = Math.max(grace, left, start + 1) - start;
  const at = (time: number) => Math.max(0, Math.min(100, ((time - start) / width) * 100));
  return {
    graceTo: at(grace),
    leftAt: at(left),
    checkpointAt: eviction.checkpointed_at == null ? null : at(Date.parse(eviction.checkpointed_at)),
    late: left > grace,
    open: eviction.vacated_at == null,
  };
}
