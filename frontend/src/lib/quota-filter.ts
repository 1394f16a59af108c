import type { Locale, Quota } from "../api/views";
import { compareNames } from "./format";
import { type QuotaRow, quotaTree } from "./quota-tree";

export const QUEUE_VIEWS = ["borrowing", "lending", "starving"] as const;
export const QUEUE_SORTS = ["starved", "borrowed", "lent", "pending", "name"] as const;
export type QuotaFilter = {
  name?: string | undefined;
  /** A team's slug. */
  team?: string | undefined;
  view?: (typeof QUEUE_VIEWS)[number] | undefined;
  sort?: (typeof QUEUE_SORTS)[number] | undefined;
};

/** The rows that the filter leaves: as a tree, or flat when sorted by a figure. */
export function pickRows(quotas: Quota[], filter: QuotaFilter, locale: Locale): QuotaRow[] {
  const wanted = filter.name?.toLowerCase();
  const kept = quotas.filter(
    ({ team, use }) =>
      (!filter.team || team.slug === filter.team) &&
      (!wanted || `${team.slug} ${team.name}`.toLowerCase().includes(wanted)) &&
      (filter.view !== "borrowing" || use.borrowed_gpus > 0) &&
      (filter.view !== "lending" || use.lent_gpus > 0) &&
      (filter.view !== "starving" || use.seconds_waiting_below_guarantee > 0),
  );
  if (!filter.sort) return quotaTree(kept, locale);
  const figure = {
    starved: (quota: Quota) => quota.use.seconds_waiting_below_guarantee,
    borrowed: (quota: Quota) => quota.use.borrowed_gpus,
    lent: (quota: Quota) => quota.use.lent_gpus,
    pending: (quota: Quota) => quota.use.pending_gpus,
    name: () => 0,
  }[filter.sort];
  return kept
    .sort((a, b) => figure(b) - figure(a) || compareNames(a.team.name, b.team.name, locale))
    .map((quota) => ({ quota, depth: 0 }));
}
