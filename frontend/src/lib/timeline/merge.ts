// Two answers about runs as one: what was fetched once, and what has changed since.
import type { TimelineRun } from "../../api/views";

/** The latest moment of which these runs tell: whatever changed after it was fetched later. */
export function latestMoment(runs: readonly TimelineRun[]): number | null {
  let latest: number | null = null;
  for (const run of runs) {
    for (const iso of [run.placed_at, run.started_at, run.ended_at]) {
      const moment = iso ? Date.parse(iso) : null;
      if (moment !== null && (latest === null || moment > latest)) latest = moment;
    }
  }
  return latest;
}

export function earliestMoment(runs: readonly TimelineRun[]): number | null {
  return runs.reduce<number | null>((first, run) => {
    const placed = Date.parse(run.placed_at);
    return first === null || placed < first ? placed : first;
  }, null);
}

/** All runs, each as the second answer has it where it has it. */
export function newerOf(before: readonly TimelineRun[], after: readonly TimelineRun[]): TimelineRun[] {
  if (after.length === 0) return [...before];
  const newer = new Map(after.map((run) => [run.id, run]));
  const known = new Set<string>();
  const merged = before.map((run) => {
    known.add(run.id);
    return newer.get(run.id) ?? run;
  });
  for (const run of after) if (!known.has(run.id)) merged.push(run);
  return merged;
}
