import type { Quota } from "../api/views";

export type Segment = { kind: "used" | "lent" | "free" | "borrowed" | "over"; from: number; to: number };
export type QuotaShape = {
  /** GPUs that the whole width stands for. */
  scale: number;
  segments: Segment[];
  guaranteed: number;
  /** Guaranteed plus borrow limit; null = no limit. */
  limit: number | null;
  /** The limit lies further out than the bar is drawn. */
  limitBeyond: boolean;
  zeroQuota: boolean;
  overLimitGpus: number;
  reclaimDue: boolean;
};

/** The bar grows to twice what matters at most: a limit of 1,000 must not shrink a quota of 4 to a hair. */
const FURTHEST = 2;

/** Where each part of the quota bar lies, in GPUs from its left end. */
export function quotaShape(quota: Pick<Quota, "guaranteed_gpus" | "borrow_limit_gpus" | "use">): QuotaShape {
  const guaranteed = quota.guaranteed_gpus;
  const { use } = quota;
  const limit = quota.borrow_limit_gpus == null ? null : guaranteed + quota.borrow_limit_gpus;
  const used = Math.min(use.guaranteed_used_gpus, guaranteed);
  const lentTo = Math.min(used + use.lent_gpus, guaranteed);
  const end = guaranteed + use.borrowed_gpus;
  const allowedEnd = limit == null ? end : Math.min(end, limit);
  const needed = Math.max(guaranteed, end, 1);
  const wanted = limit == null ? needed * 1.15 : Math.max(needed, limit * 1.02);
  const scale = Math.min(wanted, needed * FURTHEST);
  const segments: Segment[] = [
    { kind: "used", from: 0, to: used },
    { kind: "lent", from: used, to: lentTo },
    { kind: "free", from: lentTo, to: guaranteed },
    { kind: "borrowed", from: guaranteed, to: allowedEnd },
    { kind: "over", from: allowedEnd, to: end },
  ];
  return {
    scale,
    segments: segments.filter((segment) => segment.to > segment.from),
    guaranteed,
    limit,
    limitBeyond: limit != null && limit > scale,
    zeroQuota: guaranteed === 0,
    overLimitGpus: limit == null ? 0 : Math.max(0, end - limit),
    reclaimDue: use.reclaim_due,
  };
}
