// What the map of nodes and GPUs shows, as data: states, owners, places. Drawing is the page's.
import type { Gpu, Node } from "../api/views";
import { compareNames } from "./format";

export const MAP_VIEWS = ["owner", "allocated", "health"] as const;
export type MapView = (typeof MAP_VIEWS)[number];
export type GpuState = "out" | "bad" | "free" | "used" | "shared";

/** A GPU that nothing can be put on, whatever it holds, is never shown as free. */
export function stateOf(node: Pick<Node, "state">, gpu: Pick<Gpu, "health" | "free_milli">): GpuState {
  if (gpu.health !== "healthy") return "bad";
  if (gpu.free_milli < 1000) return gpu.free_milli === 0 ? "used" : "shared";
  return node.state === "ready" ? "free" : "out";
}

/** GPUs that a job could get on the node now, shares counted as parts. */
export function freeOf(node: Pick<Node, "state" | "gpus">): number {
  if (node.state !== "ready") return 0;
  return node.gpus.reduce((all, gpu) => all + (gpu.health === "healthy" ? gpu.free_milli : 0), 0) / 1000;
}

/** Whole free GPUs of the node that has most: what one member could get now. Parts of GPUs do not add up to one. */
export function largestPlaceable(nodes: Pick<Node, "state" | "gpus">[]): number {
  const whole = nodes.map((node) => node.gpus.filter((gpu) => stateOf(node, gpu) === "free").length);
  return whole.reduce((most, one) => Math.max(most, one), 0);
}

/** GPUs of a node that still hold something: what a drain waits for. */
export const heldOf = (node: Pick<Node, "gpus">) => node.gpus.filter((gpu) => gpu.jobs.length > 0).length;

export type Owner = { id: string; name: string; letter: string; color: string; gpus: number };

/** Okabe–Ito without the colours that mean something else here (bad, free). More teams than colours share; letters tell. */
const OWNER_COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442"];

/** Who holds GPUs, in the order of names, each with a letter of its own where there are enough. */
export function ownersOf(nodes: Pick<Node, "gpus">[], locale: "en" | "zh-CN"): Map<string, Owner> {
  const found = new Map<string, { name: string; slug: string; gpus: number }>();
  for (const node of nodes) {
    for (const gpu of node.gpus) {
      const teams = new Map(gpu.jobs.map((job) => [job.team.id, job.team]));
      for (const team of teams.values()) {
        const before = found.get(team.id);
        found.set(team.id, { name: team.name, slug: team.slug, gpus: (before?.gpus ?? 0) + 1 });
      }
    }
  }
  const named = [...found].map(([id, { name, slug }]) => ({ id, name, slug }));
  return new Map(
    colorsOf(named, locale).map((owner) => [owner.id, { ...owner, gpus: found.get(owner.id)?.gpus ?? 0 }]),
  );
}

export type Named = { id: string; name: string; slug: string };
/** A colour for each, in the order of names, and a letter of its own where there are enough. */
export function colorsOf(teams: Named[], locale: "en" | "zh-CN"): Omit<Owner, "gpus">[] {
  const taken = new Set<string>();
  const sorted = [...teams].sort((a, b) => compareNames(a.name, b.name, locale));
  return sorted.map(({ id, name, slug }, index) => {
    const letters = [...slug.toUpperCase().replace(/[^A-Z0-9]/g, "")];
    const letter =
      letters.find((one) => !taken.has(one)) ??
      [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((one) => !taken.has(one)) ??
      "*";
    taken.add(letter);
    return { id, name, letter, color: OWNER_COLORS[index % OWNER_COLORS.length] as string };
  });
}

export const SQUARE_PX = 16;
export const GAP_PX = 3;
export const NAME_PX = 18;
const CELL_GAP_PX = 14;
const SQUARES_A_ROW = 8;

export type Place = { left: number; top: number };
export type Layout = { cells: Place[]; width: number; height: number; cellWidth: number; cellHeight: number };

/** Nodes as cells in rows: a name over up to eight squares a row. */
export function layoutOf(nodes: Pick<Node, "gpus">[], width: number): Layout {
  const most = nodes.reduce((all, node) => Math.max(all, node.gpus.length), 1);
  const across = Math.min(most, SQUARES_A_ROW);
  const rows = Math.ceil(most / SQUARES_A_ROW);
  const cellWidth = Math.max(across, 5) * (SQUARE_PX + GAP_PX) + CELL_GAP_PX;
  const cellHeight = NAME_PX + rows * (SQUARE_PX + GAP_PX) + CELL_GAP_PX / 2;
  const columns = Math.max(1, Math.floor(width / cellWidth));
  const cells = nodes.map((_, index) => ({
    left: (index % columns) * cellWidth,
    top: Math.floor(index / columns) * cellHeight,
  }));
  return { cells, width, height: Math.ceil(nodes.length / columns) * cellHeight, cellWidth, cellHeight };
}

/** Where a GPU's square lies in its cell. */
export const squareAt = (cell: Place, index: number): Place => ({
  left: cell.left + (index % SQUARES_A_ROW) * (SQUARE_PX + GAP_PX),
  top: cell.top + NAME_PX + Math.floor(index / SQUARES_A_ROW) * (SQUARE_PX + GAP_PX),
});

/** Which node's cell a point lies in, and which of its squares, if any. */
export function hit(layout: Layout, left: number, top: number): { node: number; gpu: number | null } | null {
  const node = layout.cells.findIndex(
    (cell) =>
      left >= cell.left &&
      left < cell.left + layout.cellWidth &&
      top >= cell.top &&
      top < cell.top + layout.cellHeight,
  );
  const cell = layout.cells[node];
  if (!cell) return null;
  const column = Math.floor((left - cell.left) / (SQUARE_PX + GAP_PX));
  const row = Math.floor((top - cell.top - NAME_PX) / (SQUARE_PX + GAP_PX));
  const inside = column < SQUARES_A_ROW && row >= 0;
  return { node, gpu: inside ? row * SQUARES_A_ROW + column : null };
}
