// What the timeline draws, as data: rows of nodes with a lane a GPU, and bars on them. Drawing is the page's.
import type { MaintenanceWindow, Reservation } from "../../api/calendar";
import type { Node, PlannedStart, TimelineRun } from "../../api/views";
import { compareNames } from "../format";
import { barOfReservation, barsOfWindow, type Calendar, LANES_A_RESERVATION, stacked } from "./slots";

export type Row = {
  id: string;
  name: string;
  /** Not among the nodes that there are now. */
  gone: boolean;
  /** No node: what is reserved in the pool, whichever GPUs it will be. */
  reserved: boolean;
  lanes: number;
  /** Lanes of all rows before. */
  firstLane: number;
};

export type Bar = {
  key: string;
  row: number;
  /** The first lane of the row that it covers, and how many. */
  lane: number;
  lanes: number;
  /** Part of the lane's height, from 0 to 1, for shares of one GPU. */
  part: { from: number; to: number };
  from: number;
  /** Infinity: it holds its GPUs still, or its end is not known. */
  to: number;
  /** Until then it may last: its time limit, or the end of its grace. */
  ghost: number | null;
  teamId: string;
  kind: string;
  borrowed: boolean;
  look: "held" | "planned" | "reserved" | "maintenance";
  end: "plain" | "evicted" | "failed";
  evictionId: string | null;
  run: TimelineRun | null;
  planned: PlannedStart | null;
  reservation: Reservation | null;
  maintenance: MaintenanceWindow | null;
  gpus: number;
};

export type Picture = { rows: Row[]; bars: Bar[]; byRow: Bar[][]; lanes: number };
type Made = Pick<Node, "id" | "name"> & { gpus: readonly unknown[] };
type Locale = "en" | "zh-CN";
type Piece = { nodeId: string; nodeName: string; indices: number[]; milli: number };

const at = (iso: string | null | undefined) => (iso ? Date.parse(iso) : null);

/** Rows and bars of one pool. With `onlyUsed`, nodes on which nothing is drawn are left out. */
export function pictureOf(
  nodes: readonly Made[],
  runs: readonly TimelineRun[],
  planned: readonly PlannedStart[],
  locale: Locale,
  onlyUsed = false,
  calendar: Calendar = { reservations: [], windows: [], reservedName: "" },
): Picture {
  const pieces: { piece: Piece; bar: Omit<Bar, "row" | "lane" | "lanes" | "part"> }[] = [];
  for (const run of runs) {
    for (const member of run.members) {
      if (member.gpu_indices.length === 0) continue;
      const piece = {
        nodeId: member.node.id,
        nodeName: member.node.name,
        indices: member.gpu_indices,
        milli: member.gpu_milli,
      };
      pieces.push({ piece, bar: barOfMember(run, member) });
    }
  }
  for (const start of planned) {
    const from = at(start.starts_at);
    if (from === null) continue;
    for (const member of start.members) {
      const piece = {
        nodeId: member.node.id,
        nodeName: member.node.name,
        indices: member.gpu_indices,
        milli: member.gpu_milli,
      };
      pieces.push({ piece, bar: barOfStart(start, from, member) });
    }
  }
  const kept = stacked(calendar.reservations);
  const rows = rowsOf(
    nodes,
    pieces.map((one) => one.piece),
    locale,
    onlyUsed,
    kept.length > 0 ? [reservedRow(calendar.reservedName, kept)] : [],
  );
  const rowAt = new Map(rows.map((row, index) => [row.id, index]));
  const bars: Bar[] = [];
  for (const { piece, bar } of pieces) {
    const row = rowAt.get(piece.nodeId);
    if (row === undefined) continue;
    const each = piece.milli / piece.indices.length / 1000;
    // Shares of neighbouring GPUs may lie at different heights.
    const spans = each < 1 ? piece.indices.map((first) => ({ first, count: 1 })) : stretches(piece.indices);
    for (const { first, count } of spans) {
      const part = { from: 0, to: Math.min(1, each) };
      bars.push({ ...bar, key: `${bar.key}/${first}`, row, lane: first, lanes: count, part });
    }
  }
  for (const { reservation, at: place } of kept) bars.push(barOfReservation(reservation, place));
  for (const window of calendar.windows) bars.push(...barsOfWindow(window, rows, rowAt));
  bars.sort((a, b) => a.row - b.row || a.from - b.from || a.lane - b.lane);
  const byRow: Bar[][] = rows.map(() => []);
  for (const bar of bars) byRow[bar.row]?.push(bar);
  for (const line of byRow) stackShares(line);
  const last = rows.at(-1);
  return { rows, bars, byRow, lanes: last ? last.firstLane + last.lanes : 0 };
}

function barOfMember(run: TimelineRun, member: TimelineRun["members"][number]) {
  const left = run.evictions.find((one) => one.members.includes(member.member)) ?? null;
  const released = at(member.released_at);
  const evicted = left !== null && left.outcome !== "leaving" && released !== null;
  const failed = released !== null && (run.state === "failed" || run.state === "lost");
  return {
    key: `${run.id}/${member.member}`,
    from: Date.parse(member.placed_at),
    to: released ?? Number.POSITIVE_INFINITY,
    ghost: released === null ? (at(run.leave_by) ?? at(run.limit_at)) : null,
    teamId: run.job.team.id,
    kind: run.kind,
    borrowed: (run.borrowed_gpus ?? 0) > 0,
    look: "held" as const,
    end: evicted ? ("evicted" as const) : failed ? ("failed" as const) : ("plain" as const),
    evictionId: left?.id ?? null,
    run,
    planned: null,
    reservation: null,
    maintenance: null,
    gpus: member.gpu_milli / 1000,
  };
}

function barOfStart(start: PlannedStart, from: number, member: PlannedStart["members"][number]) {
  return {
    key: `planned/${start.job.id ?? start.job.team.id}/${from}/${member.member}/${member.node.id}`,
    from,
    to: at(start.ends_by) ?? Number.POSITIVE_INFINITY,
    ghost: null,
    teamId: start.job.team.id,
    kind: start.kind,
    borrowed: false,
    look: "planned" as const,
    end: "plain" as const,
    evictionId: null,
    run: null,
    planned: start,
    reservation: null,
    maintenance: null,
    gpus: member.gpu_milli / 1000,
  };
}

/** The pool's nodes in the order of their names, and those of the past that are no longer there. */
function rowsOf(
  nodes: readonly Made[],
  pieces: Piece[],
  locale: Locale,
  onlyUsed: boolean,
  first: Omit<Row, "firstLane">[],
): Row[] {
  const most = new Map<string, { name: string; lanes: number }>();
  for (const piece of pieces) {
    const lanes = Math.max(...piece.indices) + 1;
    const known = most.get(piece.nodeId);
    if (!known || known.lanes < lanes) most.set(piece.nodeId, { name: piece.nodeName, lanes });
  }
  const present = nodes
    .filter((node) => !onlyUsed || most.has(node.id))
    .map((node) => ({
      id: node.id,
      name: node.name,
      gone: false,
      reserved: false,
      lanes: Math.max(1, node.gpus.length, most.get(node.id)?.lanes ?? 0),
    }));
  const there = new Set(nodes.map((node) => node.id));
  const gone = [...most]
    .filter(([id]) => !there.has(id))
    .map(([id, { name, lanes }]) => ({ id, name, gone: true, reserved: false, lanes }));
  const byName = (a: { name: string }, b: { name: string }) => compareNames(a.name, b.name, locale);
  let firstLane = 0;
  return [...first, ...present.sort(byName), ...gone.sort(byName)].map((row) => {
    const placed = { ...row, firstLane };
    firstLane += row.lanes;
    return placed;
  });
}

const reservedRow = (name: string, kept: { at: number }[]) => ({
  id: "reserved",
  name,
  gone: false,
  reserved: true,
  lanes: (Math.max(...kept.map((one) => one.at)) + 1) * LANES_A_RESERVATION,
});

/** Runs of neighbours among indices: [0, 1, 2, 5] → 0 + 3, 5 + 1. */
export function stretches(indices: readonly number[]): { first: number; count: number }[] {
  const found: { first: number; count: number }[] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last.first + last.count === index) last.count += 1;
    else found.push({ first: index, count: 1 });
  }
  return found;
}

/** Shares that hold the same GPU at the same time lie above one another. */
function stackShares(line: Bar[]) {
  const lanes = new Map<number, Bar[]>();
  for (const bar of line) {
    const size = bar.part.to - bar.part.from;
    if (size >= 1 || bar.maintenance) continue;
    const beside = (lanes.get(bar.lane) ?? []).filter((other) => other.to > bar.from);
    let from = 0;
    for (const other of beside.sort((a, b) => a.part.from - b.part.from)) {
      if (other.part.from - from >= size - 1e-6) break;
      from = Math.max(from, other.part.to);
    }
    const start = Math.min(from, 1 - size);
    bar.part = { from: start, to: start + size };
    lanes.set(bar.lane, [...beside, bar]);
  }
}
