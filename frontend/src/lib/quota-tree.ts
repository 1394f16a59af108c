import type { Locale, Quota } from "../api/views";
import { compareNames } from "./format";

export type QuotaRow = { quota: Quota; depth: number };

/** Quotas pool by pool, parents before their children, siblings by name; an unseen parent makes a root. */
export function quotaTree(quotas: Quota[], locale: Locale): QuotaRow[] {
  const rows: QuotaRow[] = [];
  const pools = [...new Set(quotas.map((quota) => quota.pool.slug))].sort((a, b) =>
    compareNames(a, b, locale),
  );
  for (const pool of pools) {
    const here = quotas.filter((quota) => quota.pool.slug === pool);
    const known = new Set(here.map((quota) => quota.team.id));
    const children = new Map<string | null, Quota[]>();
    for (const quota of here) {
      const parent = quota.parent && known.has(quota.parent.id) ? quota.parent.id : null;
      children.set(parent, [...(children.get(parent) ?? []), quota]);
    }
    const visit = (parent: string | null, depth: number) => {
      const level = children.get(parent) ?? [];
      level.sort((a, b) => compareNames(a.team.name, b.team.name, locale));
      for (const quota of level) {
        rows.push({ quota, depth });
        visit(quota.team.id, depth + 1);
      }
    };
    visit(null, 0);
  }
  return rows;
}
