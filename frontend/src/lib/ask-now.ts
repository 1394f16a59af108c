import type { Pool, Quota } from "../api/views";

export type AskNow = {
  asks: number;
  /** Of it, inside the team's own guarantee. */
  insideGpus: number;
  /** Of that, lent out now: would have to be recalled. */
  recallGpus: number;
  /** Above the guarantee and inside the borrow limit. */
  loanGpus: number;
  /** Above the limit: waits until the team itself has less. */
  beyondLimitGpus: number;
  poolFreeGpus: number;
};

/**
 * What a request would meet in one pool at this moment, from the figures in view. It is arithmetic on quota, not
 * a placement: fragments, parents' limits and those in line before are the planner's to judge.
 */
export function askNow(
  asks: number,
  quota: Pick<Quota, "guaranteed_gpus" | "borrow_limit_gpus" | "use">,
  pool: Pick<Pool, "capacity">,
): AskNow {
  const left = Math.max(0, quota.guaranteed_gpus - quota.use.guaranteed_used_gpus);
  const insideGpus = Math.min(asks, left);
  const above = asks - insideGpus;
  const room =
    quota.borrow_limit_gpus == null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, quota.borrow_limit_gpus - quota.use.borrowed_gpus);
  const loanGpus = Math.min(above, room);
  const unlent = Math.max(0, left - quota.use.lent_gpus);
  return {
    asks,
    insideGpus,
    recallGpus: Math.max(0, insideGpus - unlent),
    loanGpus,
    beyondLimitGpus: above - loanGpus,
    poolFreeGpus: pool.capacity.free_gpus,
  };
}
