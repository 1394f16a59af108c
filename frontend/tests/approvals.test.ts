import { describe, expect, it } from "vitest";
import type { Quota, WhatIf } from "../src/api/views";
import { affectedBy } from "../src/lib/preview-bars";
import { type RequestValues, requestOf } from "../src/lib/request";

const team = (slug: string) => ({ id: `id-${slug}`, slug, name: slug });
const pool = { id: "p", slug: "a100" };
const quota = (slug: string, guaranteed: number, used: number, lent = 0): Quota => ({
  team: team(slug),
  pool,
  parent: null,
  guaranteed_gpus: guaranteed,
  borrow_limit_gpus: null,
  lend_limit_gpus: null,
  weight: 1,
  drain: false,
  version: 1,
  use: {
    used_gpus: used,
    guaranteed_used_gpus: Math.min(used, guaranteed),
    borrowed_gpus: Math.max(0, used - guaranteed),
    lent_gpus: lent,
    leaving_gpus: 0,
    pending_gpus: 0,
    pending_jobs: 0,
    reclaim_due: true,
    seconds_waiting_below_guarantee: 0,
  },
});
const start = (slug: string, gpus: number) => ({
  job: { id: null, name: null, imagined: false, team: team(slug) },
  gpus,
  pool,
  nodes: [],
  at_once: false,
});
const none = { total: 0, items: [] };
const difference = (starts: WhatIf["starts"]["items"], lost: WhatIf["starts"]["items"]) => ({
  starts: { total: starts.length, items: starts },
  lost_starts: { total: lost.length, items: lost },
});

describe("quota bars before and after a yes", () => {
  it("move what starts and what no longer runs, and leave others out", () => {
    const quotas = [quota("vision", 8, 4, 4), quota("speech", 8, 12), quota("search", 8, 8)];
    const affected = affectedBy(quotas, difference([start("vision", 4)], [start("speech", 4)]));
    expect(
      affected.map(({ after }) => [after.team.slug, after.use.used_gpus, after.use.borrowed_gpus]),
    ).toEqual([
      ["vision", 8, 0],
      ["speech", 8, 0],
    ]);
    // What is used by its owner is no longer lent.
    expect(affected[0]?.after.use.lent_gpus).toBe(0);
    expect(affected[0]?.before.use.lent_gpus).toBe(4);
  });
  it("show another guarantee even where nobody moves", () => {
    const change = { team: "id-vision", pool: "p", guaranteed_gpus: 12 };
    const affected = affectedBy([quota("vision", 8, 10)], { starts: none, lost_starts: none }, change);
    expect(affected.map(({ after }) => [after.guaranteed_gpus, after.use.borrowed_gpus])).toEqual([[12, 0]]);
  });
});

const values: RequestValues = {
  asks_for: "priority",
  team: "vision",
  job: "j1",
  queue: "q",
  kinds: ["training"],
  level: "critical",
  scope: "platform",
  pool: "a100",
  guaranteed_gpus: 4,
  borrow_limit_gpus: null,
  gpu_hours: 9,
  minutes: 120,
  starts_at: "",
  reason: " noon ",
  break_glass: false,
};

describe("a request", () => {
  it("names a job alone, or else the team with what narrows it", () => {
    expect(requestOf(values)).toEqual({
      asks_for: "priority",
      job: "j1",
      level: "critical",
      scope: "platform",
      duration_secs: 7200,
      reason: "noon",
    });
    expect(requestOf({ ...values, job: undefined })).toMatchObject({
      team: "vision",
      queue: "q",
      kinds: ["training"],
    });
  });
  it("has only the fields of its kind", () => {
    expect(requestOf({ ...values, asks_for: "quota", minutes: null })).toEqual({
      asks_for: "quota",
      team: "vision",
      pool: "a100",
      guaranteed_gpus: 4,
      reason: "noon",
    });
    expect(requestOf({ ...values, asks_for: "budget" })).toEqual({
      asks_for: "budget",
      team: "vision",
      gpu_hours: 9,
      duration_secs: 7200,
      reason: "noon",
    });
    // A named budget has an amount in its own unit, and no GPU-hours.
    expect(requestOf({ ...values, asks_for: "budget", budget: "b1", amount: "0.5" })).toEqual({
      asks_for: "budget",
      team: "vision",
      budget: "b1",
      amount: "0.5",
      duration_secs: 7200,
      reason: "noon",
    });
  });
});
