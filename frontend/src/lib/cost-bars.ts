// Bars of use or cost: own, borrowed and idle from zero on, what was earned by lending before it; budget and forecast as marks.
import type { Budget, UsageRow } from "../api/money";

export const COST_UNITS = ["gpu_hours", "money"] as const;
export type CostUnit = (typeof COST_UNITS)[number];
export const COST_GROUPS = ["team", "day", "pool", "kind", "priority_class", "queue"] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

export type CostPart = { kind: "own" | "borrowed" | "idle" | "down" | "lent"; text: string; value: number };
export type CostBar = {
  key: string;
  name: string | null;
  parts: CostPart[];
  /** Above zero, and what lending brought in below it. */
  sum: number;
  credit: number;
  budget: number | null;
  forecast: number | null;
};

const FIELDS = {
  gpu_hours: {
    own: "guaranteed_gpu_hours",
    borrowed: "borrowed_gpu_hours",
    idle: "idle_gpu_hours",
    down: "down_gpu_hours",
    lent: "lent_gpu_hours",
  },
  money: { own: "guaranteed_cost", borrowed: "borrowed_cost", idle: "idle_cost", lent: "lent_credit" },
} as const;

const nameOf = (row: UsageRow, by: CostGroup): [string, string | null] => {
  if (by === "team") return [row.team?.id ?? "", row.team?.name ?? null];
  if (by === "pool") return [row.pool?.id ?? "", row.pool?.slug ?? null];
  if (by === "queue") return [row.queue?.id ?? "", row.queue?.slug ?? null];
  return [row[by] ?? "", row[by] ?? null];
};

export function costBars(
  rows: readonly UsageRow[],
  by: CostGroup,
  unit: CostUnit,
  budgets: readonly Budget[] = [],
): CostBar[] {
  return rows.map((row) => {
    const [key, name] = nameOf(row, by);
    const parts = Object.entries(FIELDS[unit])
      .map(([kind, field]) => ({
        kind: kind as CostPart["kind"],
        text: row[field],
        value: Number(row[field]),
      }))
      .filter((part) => part.value !== 0);
    const budget =
      by === "team"
        ? budgets.find((one) => one.team.id === key && one.unit === unit && one.priority_class == null)
        : undefined;
    return {
      key,
      name,
      parts,
      sum: parts.filter((part) => part.kind !== "lent").reduce((all, part) => all + part.value, 0),
      credit: Math.abs(parts.find((part) => part.kind === "lent")?.value ?? 0),
      budget: budget ? Number(budget.amount) : null,
      forecast: budget?.forecast == null ? null : Number(budget.forecast),
    };
  });
}

/** What the whole width stands for: room for the longest bar with its marks, and for the largest credit before zero. */
export function costScale(bars: readonly CostBar[]): { before: number; after: number } {
  const after = Math.max(0, ...bars.map((bar) => Math.max(bar.sum, bar.budget ?? 0, bar.forecast ?? 0)));
  const before = Math.max(0, ...bars.map((bar) => bar.credit));
  return { before, after: after || 1 };
}
