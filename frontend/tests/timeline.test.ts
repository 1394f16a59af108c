import { describe, expect, it } from "vitest";
import type { PlannedStart, TimelineRun } from "../src/api/views";
import { pictureOf, stretches } from "../src/lib/timeline/bars";
import {
  AXIS_PX,
  barAt,
  boxOf,
  type Geometry,
  heightOf,
  neighbour,
  rowsShown,
} from "../src/lib/timeline/find";
import { latestMoment, newerOf } from "../src/lib/timeline/merge";
import { painterByTeam } from "../src/lib/timeline/paint";
import {
  cover,
  follow,
  LONGEST_MS,
  pan,
  SHORTEST_MS,
  spanOf,
  ticksOf,
  viewOf,
  windowWorthSeeing,
  zoom,
} from "../src/lib/timeline/view";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-30T12:00:00Z");
const iso = (ms: number) => new Date(ms).toISOString();
const node = (id: string, gpus = 8) => ({ id, name: id, gpus: Array.from({ length: gpus }) });
const team = (slug: string) => ({ id: `id-${slug}`, slug, name: slug });

type Held = { node: string; gpus: number[]; milli?: number; until?: number | null };
function run(
  id: string,
  from: number,
  to: number | null,
  held: Held[],
  more: Partial<TimelineRun> = {},
): TimelineRun {
  return {
    id,
    job: { id: `job-${id}`, name: id, team: team("vision") },
    number: 1,
    kind: "training",
    priority_class: "normal",
    state: to === null ? "running" : "succeeded",
    pool: null,
    borrowed_gpus: to === null ? 0 : null,
    placed_at: iso(from),
    started_at: iso(from),
    ended_at: to === null ? null : iso(to),
    limit_at: null,
    leave_cause: null,
    leave_by: null,
    members: held.map(({ node: name, gpus, milli = gpus.length * 1000, until = to }, member) => ({
      member,
      node: { id: name, name },
      gpu_indices: gpus,
      gpu_milli: milli,
      placed_at: iso(from),
      released_at: until === null ? null : iso(until),
    })),
    evictions: [],
    ...more,
  };
}
const start = (at: number | null, more: Partial<PlannedStart> = {}): PlannedStart => ({
  job: { id: "w", name: "waits", team: team("speech") },
  kind: "batch",
  priority_class: "low",
  pool: { id: "p", slug: "p" },
  gpus: 2,
  starts_at: at === null ? null : iso(at),
  ends_by: null,
  sentence: null,
  reclaim_id: null,
  members: [{ member: 0, node: { id: "n1", name: "n1" }, gpu_indices: [0, 1], gpu_milli: 2000 }],
  ...more,
});

describe("the picture", () => {
  it("has a row a node and a bar a stretch of neighbouring GPUs", () => {
    expect(stretches([5, 0, 2, 1])).toEqual([
      { first: 0, count: 3 },
      { first: 5, count: 1 },
    ]);
    const picture = pictureOf(
      [node("n2"), node("n10")],
      [run("a", NOW - HOUR, NOW, [{ node: "n2", gpus: [0, 1, 4] }])],
      [],
      "en",
    );
    expect(picture.rows.map((row) => [row.name, row.firstLane, row.lanes])).toEqual([
      ["n2", 0, 8],
      ["n10", 8, 8],
    ]);
    expect(picture.bars.map((bar) => [bar.row, bar.lane, bar.lanes, bar.end])).toEqual([
      [0, 0, 2, "plain"],
      [0, 4, 1, "plain"],
    ]);
  });
  it("keeps what ran on a node that is no longer there", () => {
    const picture = pictureOf(
      [node("n1")],
      [run("a", NOW - HOUR, NOW, [{ node: "old", gpus: [3] }])],
      [],
      "en",
    );
    expect(picture.rows.map((row) => [row.name, row.gone, row.lanes])).toEqual([
      ["n1", false, 8],
      ["old", true, 4],
    ]);
    const used = pictureOf(
      [node("n1"), node("n2")],
      [run("b", NOW, null, [{ node: "n2", gpus: [0] }])],
      [],
      "en",
      true,
    );
    expect(used.rows.map((row) => row.name)).toEqual(["n2"]);
  });
  it("ends a member's bar where it gave its GPUs back, with how it was made to leave", () => {
    const eviction = {
      id: "e1",
      cause: "reclaim" as const,
      outcome: "shrunk" as const,
      members: [1],
      notified_at: iso(NOW),
    };
    const elastic = run(
      "a",
      NOW - HOUR,
      null,
      [
        { node: "n1", gpus: [0] },
        { node: "n1", gpus: [1], until: NOW - 1000 },
      ],
      { evictions: [eviction], borrowed_gpus: 1, limit_at: iso(NOW + HOUR) },
    );
    const [stays, left] = pictureOf([node("n1")], [elastic], [], "en").bars;
    expect([stays?.to, stays?.end, stays?.ghost, stays?.borrowed]).toEqual([
      Number.POSITIVE_INFINITY,
      "plain",
      NOW + HOUR,
      true,
    ]);
    expect([left?.to, left?.end, left?.evictionId]).toEqual([NOW - 1000, "evicted", "e1"]);
    const failed = run("f", NOW - HOUR, NOW, [{ node: "n1", gpus: [0] }], { state: "failed" });
    expect(pictureOf([node("n1")], [failed], [], "en").bars[0]?.end).toBe("failed");
  });
  it("stacks shares of one GPU that overlap, and reuses the room of those that have ended", () => {
    const share = (id: string, from: number, to: number | null, milli: number) =>
      run(id, from, to, [{ node: "n1", gpus: [0], milli }]);
    const runs = [
      share("a", 0, 10, 500),
      share("b", 5, 20, 250),
      share("c", 12, null, 500),
      share("d", 13, null, 250),
    ];
    const parts = pictureOf([node("n1")], runs, [], "en").bars.map((bar) => [
      bar.run?.id,
      bar.part.from,
      bar.part.to,
    ]);
    expect(parts).toEqual([
      ["a", 0, 0.5],
      ["b", 0.5, 0.75],
      ["c", 0, 0.5],
      ["d", 0.75, 1],
    ]);
  });
  it("draws a planned start where its place is kept, and none whose moment is not known", () => {
    const picture = pictureOf([node("n1")], [], [start(NOW + HOUR), start(null)], "en");
    expect(picture.bars.map((bar) => [bar.look, bar.from, bar.to, bar.lanes])).toEqual([
      ["planned", NOW + HOUR, Number.POSITIVE_INFINITY, 2],
    ]);
  });
  it("has no bar for work without GPUs", () => {
    expect(
      pictureOf([node("n1")], [run("a", NOW, null, [{ node: "n1", gpus: [], milli: 0 }])], [], "en").bars,
    ).toEqual([]);
  });
  it("gives each team one colour and letter", () => {
    const other = run("b", NOW, null, [{ node: "n1", gpus: [1] }]);
    other.job = { ...other.job, team: team("voice") };
    const { bars } = pictureOf(
      [node("n1")],
      [run("a", NOW, null, [{ node: "n1", gpus: [0] }]), other],
      [],
      "en",
    );
    const painter = painterByTeam(bars, "en");
    expect(painter.legend.map((one) => [one.name, one.paint.letter])).toEqual([
      ["vision", "V"],
      ["voice", "O"],
    ]);
    expect(new Set(bars.map((bar) => painter.paintOf(bar).color)).size).toBe(2);
  });
});

describe("places", () => {
  const rows = Array.from({ length: 256 }, (_, at) => node(`n${at + 1}`));
  const runs = rows.map((one, at) =>
    run(`r${at}`, NOW - HOUR, NOW - HOUR / 2, [{ node: one.id, gpus: [0, 1] }]),
  );
  const picture = pictureOf(rows, runs, [start(NOW + HOUR / 2)], "en");
  const geometry: Geometry = {
    width: 1100,
    height: 400,
    namesPx: 100,
    lanePx: 5,
    view: { from: NOW - 2 * HOUR, to: NOW + 2 * HOUR },
    scrollTop: 0,
  };
  it("are found again where they are drawn, however far it is scrolled", () => {
    for (const at of [0, 7, 100, 255]) {
      const bar = picture.byRow[at]?.find((one) => one.look === "held");
      const scrolled = { ...geometry, scrollTop: Math.max(0, at * 46 - 100) };
      const box = bar && boxOf(picture, scrolled, bar, NOW);
      if (!bar || !box) throw new Error(`row ${at} has no place`);
      expect(box.left).toBeCloseTo(350);
      expect(box.width).toBeCloseTo(125);
      expect(barAt(picture, scrolled, NOW, box.left + 5, box.top + 2)).toBe(bar);
      expect(barAt(picture, scrolled, NOW, box.left - 20, box.top + 2)).toBeNull();
    }
  });
  it("lie only in the rows that are in view", () => {
    const shown = rowsShown(picture, { ...geometry, scrollTop: 4600 });
    expect(shown.from).toBe(100);
    expect(shown.to - shown.from).toBeLessThan(13);
    expect(heightOf(picture, 5)).toBe(256 * 46);
  });
  it("of what is not in the span are none", () => {
    const bar = picture.bars[0];
    const later = { ...geometry, view: { from: NOW, to: NOW + HOUR } };
    expect(bar && boxOf(picture, later, bar, NOW)).toBeNull();
    expect(barAt(picture, geometry, NOW, 50, AXIS_PX + 10)).toBeNull();
  });
  it("are reached by keys, from bar to bar and from row to row", () => {
    const { view } = geometry;
    const first = neighbour(picture, null, "first", view);
    expect(first?.run?.id).toBe("r0");
    const planned = neighbour(picture, first, "next", view);
    expect(planned?.look).toBe("planned");
    expect(neighbour(picture, planned, "next", view)).toBe(planned);
    expect(neighbour(picture, planned, "previous", view)).toBe(first);
    expect(neighbour(picture, first, "down", view)?.run?.id).toBe("r1");
    expect(neighbour(picture, first, "up", view)).toBe(first);
    expect(neighbour(pictureOf([], [], [], "en"), null, "first", view)).toBeNull();
  });
});

describe("time", () => {
  it("follows now with some of the future in view", () => {
    const view = follow("6h", NOW);
    expect([view.from, view.to]).toEqual([NOW - 6 * HOUR, NOW + 1.5 * HOUR]);
  });
  it("begins with the shortest window that has all there is, up to the usual one", () => {
    expect(windowWorthSeeing(NOW - 60_000, NOW)).toBe("15m");
    expect(windowWorthSeeing(NOW - 2 * HOUR, NOW)).toBe("6h");
    expect(windowWorthSeeing(NOW - 90 * HOUR, NOW)).toBe("6h");
    expect(windowWorthSeeing(null, NOW)).toBe("6h");
  });
  it("zooms around the pointer, within bounds", () => {
    const view = { from: NOW, to: NOW + 4 * HOUR };
    expect(zoom(view, 0.5, NOW + HOUR)).toEqual({ from: NOW + HOUR / 2, to: NOW + 2.5 * HOUR });
    expect(spanOf(zoom(view, 1e-9))).toBe(SHORTEST_MS);
    expect(spanOf(zoom(view, 1e9))).toBe(LONGEST_MS);
    expect(pan(view, HOUR).from).toBe(NOW + HOUR);
  });
  it("is read from an address, and nothing else is taken for it", () => {
    expect(viewOf(iso(NOW), iso(NOW + HOUR))).toEqual({ from: NOW, to: NOW + HOUR });
    for (const [from, to] of [
      ["x", iso(NOW)],
      [iso(NOW), iso(NOW)],
      [iso(NOW), undefined],
      [iso(NOW), iso(NOW + 400 * 24 * HOUR)],
    ])
      expect(viewOf(from, to)).toBeNull();
  });
  it("is loaded in whole steps that a small move keeps, and never for more than 31 days", () => {
    const view = follow("6h", NOW);
    const range = cover(view);
    expect(range.from).toBeLessThanOrEqual(view.from);
    expect(range.to).toBeGreaterThanOrEqual(view.to);
    expect(cover(pan(view, 60_000))).toEqual(range);
    for (let at = 0; at < 20; at += 1)
      expect(spanOf(cover({ from: NOW + at * HOUR, to: NOW + at * HOUR + LONGEST_MS }))).toBeLessThanOrEqual(
        31 * 24 * HOUR,
      );
  });
  it("has as many round ticks as there is room for", () => {
    const ticks = ticksOf({ from: NOW + 1, to: NOW + 6 * HOUR }, 840, 84);
    expect(ticks.length).toBeLessThanOrEqual(11);
    expect(ticks.length).toBeGreaterThan(4);
    expect(ticks.every((at) => new Date(at).getSeconds() === 0)).toBe(true);
  });
});

describe("what has changed since", () => {
  it("takes the place of what was fetched before, and comes beside it", () => {
    const before = [run("a", NOW - HOUR, null, []), run("b", NOW - 2 * HOUR, NOW - HOUR, [])];
    const after = [run("c", NOW, null, []), run("a", NOW - HOUR, NOW, [])];
    const merged = newerOf(before, after);
    expect(merged.map((one) => [one.id, one.state])).toEqual([
      ["a", "succeeded"],
      ["b", "succeeded"],
      ["c", "running"],
    ]);
    expect(latestMoment(before)).toBe(NOW - HOUR);
    expect(latestMoment([])).toBeNull();
  });
});
