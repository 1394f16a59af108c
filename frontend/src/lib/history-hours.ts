import type { HistoryPoint } from "../api/views";

/** How far back the pool's chart looks, as the address has it. */
export const HISTORY_HOURS = ["1", "24", "168"] as const;
export type HistoryHours = (typeof HISTORY_HOURS)[number];

const HOUR_MS = 3_600_000;

/** A day, or the last hour while nothing happened before it: a new pool's day is an empty picture. */
export function hoursWorthSeeing(
  day: Pick<HistoryPoint, "at" | "own_gpus" | "borrowed_gpus">[],
  now: number,
): HistoryHours {
  const used = day.filter((point) => point.own_gpus + point.borrowed_gpus > 0);
  const old = used.some((point) => Date.parse(point.at) < now - HOUR_MS);
  return used.length > 0 && !old ? "1" : "24";
}
