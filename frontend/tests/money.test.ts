import { describe, expect, it } from "vitest";
import type { Budget, UsageRow } from "../src/api/money";
import { costBars, costScale } from "../src/lib/cost-bars";
import { daysOf, formatExact, formatHours, formatMoney, isMonth, monthOf } from "../src/lib/money";

const team = (slug: string) => ({ id: `id-${slug}`, slug, name: slug });
const row = (of: Partial<UsageRow>): UsageRow =>
  ({
    day: null,
    team: null,
    pool: null,
    kind: null,
    priority_class: null,
    queue: null,
    job: null,
    guaranteed_gpu_hours: "0",
    borrowed_gpu_hours: "0",
    lent_gpu_hours: "0",
    idle_gpu_hours: "0",
    down_gpu_hours: "0",
    guaranteed_cost: "0",
    borrowed_cost: "0",
    lent_credit: "0",
    idle_cost: "0",
    cost: "0",
    ...of,
  }) as UsageRow;
const budget = (of: Partial<Budget>): Budget =>
  ({
    id: "b",
    team: team("vision"),
    priority_class: null,
    unit: "gpu_hours",
    amount: "100",
    action: "warn",
    note: "",
    version: 1,
    used: "50",
    forecast: "120",
    percent: 50,
    state: "ok",
    month: "2026-11",
    as_of: "2026-11-30T00:00:00Z",
    ...of,
  }) as Budget;

describe("cost bars", () => {
  it("stack own, borrowed and idle; what was lent lies before zero; a budget of the same unit is marked", () => {
    const rows = [
      row({
        team: team("vision"),
        guaranteed_gpu_hours: "60.5",
        borrowed_gpu_hours: "20",
        lent_gpu_hours: "8",
      }),
      row({ team: null, idle_gpu_hours: "200" }),
    ];
    const budgets = [
      budget({ unit: "money", amount: "7" }),
      budget({ priority_class: "high", amount: "3" }),
      budget({}),
    ];
    const bars = costBars(rows, "team", "gpu_hours", budgets);
    expect(bars.map((bar) => [bar.name, bar.sum, bar.credit, bar.budget, bar.forecast])).toEqual([
      ["vision", 80.5, 8, 100, 120],
      [null, 200, 0, null, null],
    ]);
    expect(bars[0]?.parts.map((part) => part.kind)).toEqual(["own", "borrowed", "lent"]);
    expect(costScale(bars)).toEqual({ before: 8, after: 200 });
  });
  it("take a credit's size whatever its sign", () => {
    const bars = costBars([row({ team: team("a"), lent_credit: "-12.50" })], "team", "money");
    expect(bars[0]?.credit).toBe(12.5);
    expect(costScale(bars)).toEqual({ before: 12.5, after: 1 });
  });
});

describe("amounts", () => {
  it("keep every digit of what no float can hold", () => {
    expect(formatMoney("9007199254740993.25", "CNY", "zh-CN")).toContain("9,007,199,254,740,993.25");
    expect(formatMoney("1234.5", null, "en")).toBe("1,234.50");
    expect(formatHours("1234.56", "en")).toBe("1,234.6");
    expect(formatExact("1234.560001", "en")).toBe("1,234.560001");
    expect(formatExact("20", "zh-CN")).toBe("20");
  });
  it("know a month and its days, in UTC", () => {
    expect(monthOf(Date.parse("2026-01-01T00:30:00Z"), 1)).toBe("2025-12");
    expect(daysOf("2026-12")).toEqual({ from: "2026-12-01", to: "2027-01-01" });
    expect([isMonth("2026-13"), isMonth("2026-02"), isMonth(null)]).toEqual([false, true, false]);
  });
});
