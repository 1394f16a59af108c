// Quota bars before and after: what the planner's difference makes of each team's use in a pool.
import type { Quota, WhatIf } from "../api/views";

export type Affected = { before: Quota; after: Quota };
type Change = { team: string; pool: string; guaranteed_gpus: number };

/**
 * The teams whose use or quota would change, with both, once all has settled: whoever is evicted and does not run again
 * is among the lost starts. Where the answer leaves out a pool, the team's only one counts.
 */
export function affectedBy(
  quotas: readonly Quota[],
  answer: Pick<WhatIf, "starts" | "lost_starts"> | null,
  change: Change | null = null,
): Affected[] {
  const used = new Map<string, number>();
  const move = (team: string | undefined, pool: string | undefined, gpus: number) => {
    if (!team) return;
    const own = quotas.filter((quota) => quota.team.id === team);
    const quota = own.find((one) => one.pool.id === pool) ?? (own.length === 1 ? own[0] : undefined);
    if (!quota) return;
    const key = keyOf(quota);
    used.set(key, (used.get(key) ?? 0) + gpus);
  };
  for (const start of answer?.starts.items ?? []) move(start.job.team?.id, start.pool?.id, start.gpus);
  for (const lost of answer?.lost_starts.items ?? []) move(lost.job.team?.id, lost.pool?.id, -lost.gpus);
  return quotas
    .map((before) => {
      const moved = used.get(keyOf(before)) ?? 0;
      const raised = change && change.team === before.team.id && change.pool === before.pool.id;
      const guaranteed = raised ? change.guaranteed_gpus : before.guaranteed_gpus;
      return { before, after: withUse(before, before.use.used_gpus + moved, guaranteed) };
    })
    .filter(
      ({ before, after }) =>
        before.use.used_gpus !== after.use.used_gpus || before.guaranteed_gpus !== after.guaranteed_gpus,
    );
}

const keyOf = (quota: Quota) => `${quota.team.id}/${quota.pool.id}`;

/** The same quota with another use: inside the guarantee first, the rest on loan. */
function withUse(quota: Quota, used: number, guaranteed: number): Quota {
  const used_gpus = Math.max(0, used);
  const guaranteed_used_gpus = Math.min(used_gpus, guaranteed);
  const free = Math.max(0, guaranteed - guaranteed_used_gpus);
  return {
    ...quota,
    guaranteed_gpus: guaranteed,
    use: {
      ...quota.use,
      used_gpus,
      guaranteed_used_gpus,
      borrowed_gpus: Math.max(0, used_gpus - guaranteed),
      lent_gpus: Math.min(quota.use.lent_gpus, free),
      reclaim_due: false,
    },
  };
}
