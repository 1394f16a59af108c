import i18next from "i18next";
import { beforeAll, describe, expect, it } from "vitest";
import type { Quota, QuotaUse } from "../src/api/views";
import { startI18n } from "../src/i18n";
import { askNow } from "../src/lib/ask-now";
import { pickRows } from "../src/lib/quota-filter";
import { quotaShape } from "../src/lib/quota-shape";
import { quotaTree } from "../src/lib/quota-tree";
import { quotaWords } from "../src/lib/quota-words";

const NOTHING: QuotaUse = {
  used_gpus: 0,
  guaranteed_used_gpus: 0,
  borrowed_gpus: 0,
  lent_gpus: 0,
  pending_gpus: 0,
  pending_jobs: 0,
  leaving_gpus: 0,
  seconds_waiting_below_guarantee: 0,
  reclaim_due: false,
};
function quota(
  guaranteed: number,
  limit: number | null,
  use: Partial<QuotaUse>,
  name = "a",
  parent?: string,
): Quota {
  const team = (slug: string) => ({ id: slug, slug, name: slug });
  return {
    team: team(name),
    parent: parent ? team(parent) : null,
    pool: { id: "p", slug: "p" },
    guaranteed_gpus: guaranteed,
    borrow_limit_gpus: limit,
    lend_limit_gpus: null,
    weight: 1,
    drain: false,
    version: 1,
    use: { ...NOTHING, ...use },
  };
}
const parts = (of: Quota) => quotaShape(of).segments.map(({ kind, from, to }) => [kind, from, to]);

describe("the quota bar", () => {
  it("shows used, lent and free inside the quota", () => {
    expect(parts(quota(24, 8, { guaranteed_used_gpus: 8, lent_gpus: 12 }))).toEqual([
      ["used", 0, 8],
      ["lent", 8, 20],
      ["free", 20, 24],
    ]);
  });
  it("shows what is borrowed past the quota mark", () => {
    const shape = quotaShape(quota(64, 32, { guaranteed_used_gpus: 64, borrowed_gpus: 16 }));
    expect(shape.segments.at(-1)).toEqual({ kind: "borrowed", from: 64, to: 80 });
    expect(shape.limit).toBe(96);
    expect(shape.overLimitGpus).toBe(0);
    expect(shape.scale).toBeGreaterThanOrEqual(96);
  });
  it("has a quota of zero that borrows only", () => {
    const shape = quotaShape(quota(0, 4, { borrowed_gpus: 2 }));
    expect(shape.zeroQuota).toBe(true);
    expect(shape.segments).toEqual([{ kind: "borrowed", from: 0, to: 2 }]);
  });
  it("marks what lies over a lowered limit", () => {
    expect(parts(quota(4, 2, { guaranteed_used_gpus: 4, borrowed_gpus: 5 }))).toEqual([
      ["used", 0, 4],
      ["borrowed", 4, 6],
      ["over", 6, 9],
    ]);
    expect(quotaShape(quota(4, 2, { guaranteed_used_gpus: 4, borrowed_gpus: 5 })).overLimitGpus).toBe(3);
  });
  it("does not let a far limit shrink the quota", () => {
    const shape = quotaShape(quota(4, 1000, {}));
    expect(shape.limitBeyond).toBe(true);
    expect(shape.scale).toBe(8);
  });
  it("never draws past its scale and never overlaps", () => {
    for (const guaranteed of [0, 1, 7, 64]) {
      for (const limit of [null, 0, 3, 500]) {
        for (const used of [0, 5, 64]) {
          for (const lent of [0, 9]) {
            for (const borrowed of [0, 2, 40]) {
              const shape = quotaShape(
                quota(guaranteed, limit, {
                  guaranteed_used_gpus: used,
                  lent_gpus: lent,
                  borrowed_gpus: borrowed,
                }),
              );
              let end = 0;
              for (const segment of shape.segments) {
                expect(segment.from).toBe(end);
                expect(segment.to).toBeGreaterThan(segment.from);
                end = segment.to;
              }
              expect(end).toBeLessThanOrEqual(shape.scale);
            }
          }
        }
      }
    }
  });
  it("draws an empty quota of zero without dividing by it", () => {
    expect(quotaShape(quota(0, 0, {})).scale).toBeGreaterThan(0);
  });
});

describe("the words beside it", () => {
  beforeAll(() => startI18n("en"));
  const words = (of: Quota) => quotaWords(of, i18next.t, (value) => String(value));
  it("say the same in both languages", async () => {
    const full = quota(64, 32, { guaranteed_used_gpus: 64, borrowed_gpus: 16 });
    expect(words(full)).toBe("64 of 64 used, 16 borrowed, 0 lent, limit 96");
    await i18next.changeLanguage("zh-CN");
    expect(words(full)).toBe("保障 64 已用 64，借入 16，借出 0，上限 96");
    await i18next.changeLanguage("en");
  });
  it("name a missing guarantee, a missing limit, and who waits", () => {
    expect(words(quota(0, null, { borrowed_gpus: 3, pending_gpus: 5, leaving_gpus: 1 }))).toBe(
      "no guarantee, borrow only, 3 borrowed, no limit, 1 leaving, 5 waiting",
    );
  });
});

describe("the team table", () => {
  const all = [
    quota(4, null, { borrowed_gpus: 2 }, "b", "dept"),
    quota(8, null, {}, "dept"),
    quota(4, null, { seconds_waiting_below_guarantee: 60 }, "a", "dept"),
    quota(1, null, {}, "orphan", "unseen"),
  ];
  it("puts children under their parents, and unseen parents' children at the root", () => {
    expect(quotaTree(all, "en").map(({ quota: one, depth }) => [one.team.slug, depth])).toEqual([
      ["dept", 0],
      ["a", 1],
      ["b", 1],
      ["orphan", 0],
    ]);
  });
  it("filters and sorts", () => {
    expect(pickRows(all, { view: "borrowing" }, "en").map((row) => row.quota.team.slug)).toEqual(["b"]);
    expect(pickRows(all, { sort: "starved" }, "en")[0]?.quota.team.slug).toBe("a");
    expect(pickRows(all, { name: "ORPH" }, "en")).toHaveLength(1);
  });
});

describe("what a request would meet", () => {
  const pool = {
    capacity: { gpus: 8, usable_gpus: 8, allocated_gpus: 6, free_gpus: 2, leaving_gpus: 0 },
  };
  it("splits into own, recalled, on loan and beyond the limit", () => {
    const team = quota(4, 2, { guaranteed_used_gpus: 1, lent_gpus: 2, borrowed_gpus: 0 });
    expect(askNow(8, team, pool)).toEqual({
      asks: 8,
      insideGpus: 3,
      recallGpus: 2,
      loanGpus: 2,
      beyondLimitGpus: 3,
      poolFreeGpus: 2,
    });
  });
  it("has no end where there is no limit", () => {
    expect(askNow(100, quota(0, null, {}), pool)).toMatchObject({ loanGpus: 100, beyondLimitGpus: 0 });
  });
});
