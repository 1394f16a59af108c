// Which bar lies at a point, and which is the next one for a key.
import type { Bar, Picture, Row } from "./bars";
import type { View } from "./view";

export const ROW_GAP_PX = 6;
export const AXIS_PX = 26;
export const LANES_PX = { nodes: 5, gpus: 16 } as const;
export type RowSize = keyof typeof LANES_PX;

export type Geometry = {
  /** Of the canvas: it shows a part of all rows. */
  width: number;
  height: number;
  namesPx: number;
  lanePx: number;
  view: View;
  /** How far the rows are scrolled. */
  scrollTop: number;
};

export const rowTop = (row: Row, at: number, lanePx: number) =>
  row.firstLane * lanePx + at * ROW_GAP_PX + ROW_GAP_PX / 2;
export const heightOf = (picture: Picture, lanePx: number) =>
  picture.lanes * lanePx + picture.rows.length * ROW_GAP_PX;

export const xOf = (geometry: Geometry, ms: number) => {
  const { view, width, namesPx } = geometry;
  return namesPx + ((ms - view.from) / (view.to - view.from)) * (width - namesPx);
};
export const momentOf = (geometry: Geometry, x: number) => {
  const { view, width, namesPx } = geometry;
  return view.from + ((x - namesPx) / Math.max(1, width - namesPx)) * (view.to - view.from);
};

/** First and last row (excluded) of which something is in view. */
export function rowsShown(picture: Picture, geometry: Geometry): { from: number; to: number } {
  const { rows } = picture;
  const from = lastStartingBefore(rows, geometry.scrollTop, geometry.lanePx);
  const to = lastStartingBefore(rows, geometry.scrollTop + geometry.height, geometry.lanePx) + 1;
  return { from, to: Math.min(rows.length, to) };
}

function lastStartingBefore(rows: Row[], y: number, lanePx: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const row = rows[middle];
    if (row && rowTop(row, middle, lanePx) - ROW_GAP_PX / 2 <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A bar's place on the canvas, cut to what is in view; null when none of it is. */
export function boxOf(picture: Picture, geometry: Geometry, bar: Bar, now: number) {
  const row = picture.rows[bar.row];
  if (!row) return null;
  const until = bar.to === Number.POSITIVE_INFINITY ? openEnd(bar, geometry, now) : bar.to;
  if (until < geometry.view.from || bar.from > geometry.view.to) return null;
  const left = Math.max(geometry.namesPx, xOf(geometry, bar.from));
  const right = Math.min(geometry.width, Math.max(xOf(geometry, until), left + 1));
  const { lanePx } = geometry;
  const laneTop = AXIS_PX + rowTop(row, bar.row, lanePx) - geometry.scrollTop + bar.lane * lanePx;
  const full = bar.lanes * lanePx;
  const top = laneTop + (bar.lanes === 1 ? bar.part.from * full : 0);
  const height = Math.max(2, bar.lanes === 1 ? (bar.part.to - bar.part.from) * full : full) - 1;
  return { left, top, width: right - left, height };
}

/** What holds GPUs still ends at now; what is planned without a known end fades out over a tenth of the view. */
const openEnd = (bar: Bar, geometry: Geometry, now: number) =>
  bar.look === "planned" ? bar.from + (geometry.view.to - geometry.view.from) * 0.1 : Math.max(now, bar.from);

/** The bar at a point of the canvas: the smallest, where one lies on another. */
export function barAt(
  picture: Picture,
  geometry: Geometry,
  now: number,
  x: number,
  y: number,
  slackPx = 2,
): Bar | null {
  if (x < geometry.namesPx || y < AXIS_PX) return null;
  const row = lastStartingBefore(picture.rows, geometry.scrollTop + y - AXIS_PX, geometry.lanePx);
  let found: { bar: Bar; size: number } | null = null;
  for (const bar of picture.byRow[row] ?? []) {
    const box = boxOf(picture, geometry, bar, now);
    if (!box) continue;
    const inside =
      x >= box.left - slackPx &&
      x <= box.left + box.width + slackPx &&
      y >= box.top &&
      y <= box.top + box.height + 1;
    const size = box.width * box.height;
    if (inside && (!found || size < found.size)) found = { bar, size };
  }
  return found?.bar ?? null;
}

export type Step = "next" | "previous" | "down" | "up" | "first";

/** The bar to which a key leads from the one in focus. */
export function neighbour(picture: Picture, bar: Bar | null, step: Step, view: View): Bar | null {
  const inView = (one: Bar) => one.to >= view.from && one.from <= view.to;
  if (!bar || step === "first") return picture.bars.find(inView) ?? picture.bars[0] ?? null;
  const line = picture.byRow[bar.row] ?? [];
  const at = line.indexOf(bar);
  if (step === "next") return line[at + 1] ?? bar;
  if (step === "previous") return line[at - 1] ?? bar;
  const by = step === "down" ? 1 : -1;
  for (let row = bar.row + by; row >= 0 && row < picture.byRow.length; row += by) {
    const closest = nearest(picture.byRow[row] ?? [], bar.from);
    if (closest) return closest;
  }
  return bar;
}

const nearest = (line: Bar[], moment: number): Bar | null =>
  line.reduce<Bar | null>(
    (best, one) => (best && Math.abs(best.from - moment) <= Math.abs(one.from - moment) ? best : one),
    null,
  );
