// Draws the timeline on a canvas: rows, bars, ticks, now. What it means is in the legend's and the table's words.
import type { Bar, Picture } from "./bars";
import { AXIS_PX, boxOf, type Geometry, ROW_GAP_PX, rowsShown, rowTop, xOf } from "./find";

/** How a bar looks by its team or kind: a colour, and a letter beside it. */
export type Paint = { color: string; letter: string };
export type Theme = {
  ink: string;
  quiet: string;
  line: string;
  card: string;
  ground: string;
  bad: string;
  focus: string;
  font: string;
};
export type Scene = {
  picture: Picture;
  geometry: Geometry;
  now: number;
  nowLabel: string;
  ticks: { at: number; label: string }[];
  paintOf: (bar: Bar) => Paint;
  nameOf: (bar: Bar) => string;
  theme: Theme;
};

const NAME_FROM_PX = 34;
const LETTER_FROM_PX = 9;
const TEXT_FROM_PX = 9;

/** Draws what is in view; answers how many bars that were. */
export function draw(context: CanvasRenderingContext2D, scene: Scene): number {
  const { geometry, picture, theme } = scene;
  context.clearRect(0, 0, geometry.width, geometry.height + AXIS_PX);
  const shown = rowsShown(picture, geometry);
  drawRows(context, scene, shown);
  const hatch = hatchOf(context);
  let drawn = 0;
  context.save();
  context.beginPath();
  context.rect(geometry.namesPx, AXIS_PX, geometry.width - geometry.namesPx, geometry.height);
  context.clip();
  drawGrid(context, scene);
  for (let row = shown.from; row < shown.to; row += 1) {
    const bars = picture.byRow[row] ?? [];
    for (const bar of bars) {
      if (bar.look !== "maintenance" && drawBar(context, scene, bar, hatch)) drawn += 1;
    }
    // Over what runs there, so that it is seen.
    for (const bar of bars) {
      if (bar.look === "maintenance" && drawMaintenance(context, scene, bar)) drawn += 1;
    }
  }
  drawNow(context, scene);
  context.restore();
  drawAxis(context, scene);
  context.fillStyle = theme.line;
  context.fillRect(geometry.namesPx - 1, 0, 1, geometry.height + AXIS_PX);
  return drawn;
}

function drawRows(context: CanvasRenderingContext2D, scene: Scene, shown: { from: number; to: number }) {
  const { geometry, picture, theme } = scene;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (let at = shown.from; at < shown.to; at += 1) {
    const row = picture.rows[at];
    if (!row) continue;
    const top = AXIS_PX + rowTop(row, at, geometry.lanePx) - geometry.scrollTop;
    const height = row.lanes * geometry.lanePx;
    if (at % 2 === 1) {
      context.fillStyle = theme.ground;
      context.fillRect(0, top - ROW_GAP_PX / 2, geometry.width, height + ROW_GAP_PX);
    }
    context.fillStyle = row.gone ? theme.quiet : theme.ink;
    context.font = `12px ${theme.font}`;
    const room = geometry.namesPx - 14 - (geometry.lanePx >= TEXT_FROM_PX ? 16 : 0);
    const middle = geometry.lanePx >= TEXT_FROM_PX ? top + geometry.lanePx / 2 : top + height / 2;
    context.fillText(row.gone ? `† ${row.name}` : row.name, 8, middle, room);
    if (geometry.lanePx < TEXT_FROM_PX) continue;
    context.fillStyle = theme.quiet;
    context.font = `10px ${theme.font}`;
    context.textAlign = "right";
    for (let lane = 0; lane < row.lanes && !row.reserved; lane += 1) {
      const y = top + (lane + 0.5) * geometry.lanePx;
      context.fillText(String(lane), geometry.namesPx - 6, y);
    }
    context.textAlign = "left";
  }
}

function drawGrid(context: CanvasRenderingContext2D, { geometry, ticks, theme }: Scene) {
  context.fillStyle = theme.line;
  for (const { at } of ticks) context.fillRect(Math.round(xOf(geometry, at)), AXIS_PX, 1, geometry.height);
}

function drawNow(context: CanvasRenderingContext2D, { geometry, now, theme }: Scene) {
  context.fillStyle = theme.ink;
  context.fillRect(Math.round(xOf(geometry, now)) - 1, AXIS_PX, 2, geometry.height);
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene) {
  const { geometry, ticks, now, nowLabel, theme } = scene;
  context.fillStyle = theme.card;
  context.fillRect(0, 0, geometry.width, AXIS_PX);
  context.fillStyle = theme.line;
  context.fillRect(0, AXIS_PX - 1, geometry.width, 1);
  context.font = `11px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const nowAt = xOf(geometry, now);
  const nowWidth = context.measureText(nowLabel).width / 2 + 6;
  const nowShown = nowAt >= geometry.namesPx && nowAt <= geometry.width;
  context.fillStyle = theme.quiet;
  for (const { at, label } of ticks) {
    const x = xOf(geometry, at);
    const half = context.measureText(label).width / 2 + 2;
    const besideNow = !nowShown || Math.abs(x - nowAt) > half + nowWidth;
    if (x - half > geometry.namesPx && x + half < geometry.width && besideNow)
      context.fillText(label, x, AXIS_PX / 2);
  }
  if (!nowShown) return;
  context.fillStyle = theme.ink;
  context.font = `bold 11px ${theme.font}`;
  const x = Math.min(Math.max(nowAt, geometry.namesPx + nowWidth), geometry.width - nowWidth);
  context.fillText(nowLabel, x, AXIS_PX / 2);
}

type Box = { left: number; top: number; width: number; height: number };

function drawBar(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, hatch: CanvasPattern | null) {
  const box = boxOf(scene.picture, scene.geometry, bar, scene.now);
  drawGhost(context, scene, bar);
  if (!box) return false;
  const paint = scene.paintOf(bar);
  if (bar.look === "planned") drawPlanned(context, scene, bar, box, paint);
  else if (bar.look === "reserved") drawReserved(context, scene, box, paint);
  else {
    context.fillStyle = paint.color;
    context.fillRect(box.left, box.top, box.width, box.height);
    if (bar.borrowed && hatch) {
      context.fillStyle = hatch;
      context.fillRect(box.left, box.top, box.width, box.height);
    }
    // Bars that touch stay two bars.
    if (box.width > 3) {
      context.fillStyle = scene.theme.card;
      context.fillRect(box.left + box.width - 1, box.top, 1, box.height);
    }
  }
  drawEnd(context, scene, bar, box);
  drawText(context, scene, bar, box, paint);
  return true;
}

/** Reserved: a double outline in the team's colour, empty inside. */
function drawReserved(context: CanvasRenderingContext2D, { theme }: Scene, box: Box, paint: Paint) {
  const width = Math.max(1, box.width - 1);
  const height = Math.max(1, box.height - 1);
  context.fillStyle = `${paint.color}22`;
  context.fillRect(box.left, box.top, box.width, box.height);
  context.strokeStyle = paint.color;
  context.lineWidth = 3;
  context.strokeRect(box.left + 1.5, box.top + 1.5, Math.max(1, width - 2), Math.max(1, height - 2));
  context.strokeStyle = theme.ink;
  context.lineWidth = 1;
  context.strokeRect(box.left + 0.5, box.top + 0.5, width, height);
}

/** Maintenance: an outline with a cross over the node's whole row; what runs there stays visible. */
function drawMaintenance(context: CanvasRenderingContext2D, scene: Scene, bar: Bar): boolean {
  const box = boxOf(scene.picture, scene.geometry, bar, scene.now);
  if (!box) return false;
  const { theme } = scene;
  const right = box.left + box.width - 1;
  const bottom = box.top + box.height - 1;
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.5;
  context.setLineDash([6, 3]);
  context.strokeRect(box.left + 0.5, box.top + 0.5, Math.max(1, box.width - 1), Math.max(1, box.height - 1));
  context.setLineDash([]);
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(box.left, box.top);
  context.lineTo(right, bottom);
  context.moveTo(box.left, bottom);
  context.lineTo(right, box.top);
  context.stroke();
  if (box.width >= NAME_FROM_PX && box.height >= TEXT_FROM_PX) {
    const size = Math.min(11, Math.floor(box.height));
    context.font = `${size}px ${theme.font}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const text = cutTo(scene.nameOf(bar), box.width - 6, size);
    const middle = box.top + box.height / 2;
    context.fillStyle = theme.card;
    context.fillRect(box.left + 2, middle - size / 2 - 1, context.measureText(text).width + 4, size + 2);
    context.fillStyle = theme.ink;
    context.fillText(text, box.left + 4, middle);
  }
  return true;
}

/** Planned: an outline that fades towards the end that is less and less sure. */
function drawPlanned(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: Box, paint: Paint) {
  const fade = context.createLinearGradient(box.left, 0, box.left + box.width, 0);
  const ends = bar.to !== Number.POSITIVE_INFINITY;
  fade.addColorStop(0, `${paint.color}88`);
  fade.addColorStop(1, `${paint.color}${ends ? "33" : "00"}`);
  context.fillStyle = fade;
  context.fillRect(box.left, box.top, box.width, box.height);
  context.strokeStyle = scene.theme.ink;
  context.lineWidth = 1;
  context.setLineDash([4, 3]);
  context.strokeRect(box.left + 0.5, box.top + 0.5, Math.max(1, box.width - 1), Math.max(1, box.height - 1));
  context.setLineDash([]);
}

/** How long a bar that has not ended may still last. */
function drawGhost(context: CanvasRenderingContext2D, scene: Scene, bar: Bar) {
  if (bar.ghost === null || bar.ghost <= scene.now) return;
  const box = boxOf(scene.picture, scene.geometry, { ...bar, from: scene.now, to: bar.ghost }, scene.now);
  if (!box) return;
  context.strokeStyle = bar.evictionId ? scene.theme.bad : scene.theme.quiet;
  context.lineWidth = 1;
  context.setLineDash([2, 2]);
  context.strokeRect(box.left + 0.5, box.top + 0.5, Math.max(1, box.width - 1), Math.max(1, box.height - 1));
  context.setLineDash([]);
}

/** Evicted: a broad end with a notch. Failed or lost: a broad dark end. */
function drawEnd(context: CanvasRenderingContext2D, { theme }: Scene, bar: Bar, box: Box) {
  if (bar.end === "plain") return;
  const right = box.left + box.width;
  const cap = Math.min(4, Math.max(2, box.width));
  context.fillStyle = bar.end === "evicted" ? theme.bad : theme.ink;
  context.fillRect(right - cap, box.top, cap, box.height);
  if (bar.end !== "evicted" || box.width < 10 || box.height < 6) return;
  context.beginPath();
  context.moveTo(right - cap, box.top);
  context.lineTo(right - cap - Math.min(7, box.height), box.top + box.height / 2);
  context.lineTo(right - cap, box.top + box.height);
  context.fill();
}

/** Letter and name, as much of them as there is room for: measuring or clipping each would cost more than drawing it. */
function drawText(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: Box, paint: Paint) {
  if (box.height < TEXT_FROM_PX || box.width < LETTER_FROM_PX) return;
  const { theme } = scene;
  const size = Math.min(11, Math.floor(box.height));
  const font = `${size}px ${theme.font}`;
  if (context.font !== font) context.font = font;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const whole = box.width >= NAME_FROM_PX ? `${paint.letter} ${scene.nameOf(bar)}` : paint.letter;
  const text = cutTo(whole, box.width - 6, size);
  const x = box.left + 4;
  const y = box.top + Math.min(box.height, 24) / 2 + 0.5;
  if (bar.borrowed || bar.look !== "held") {
    // Hatching would cut through the letters.
    const width = Math.min(box.width - 4, context.measureText(text).width + 4);
    context.fillStyle = theme.card;
    context.fillRect(x - 2, y - size / 2 - 1, width, size + 2);
    context.fillStyle = theme.ink;
  } else {
    context.fillStyle = inkOn(paint.color);
  }
  context.fillText(text, x, y, box.width - 5);
}

/** The beginning that fits: letters of our scripts are a bit more than half as wide as high, Chinese ones as wide. */
function cutTo(text: string, width: number, size: number): string {
  let room = width;
  let at = 0;
  for (; at < text.length; at += 1) {
    room -= text.charCodeAt(at) > 0x2e7f ? size : size * 0.56;
    if (room < 0) break;
  }
  return text.slice(0, Math.max(1, at));
}

/** White on the one dark colour, dark on all others. */
export const inkOn = (color: string) => (color === "#0072B2" ? "#fff" : "#111");

let hatched: CanvasPattern | null = null;
function hatchOf(context: CanvasRenderingContext2D): CanvasPattern | null {
  if (hatched) return hatched;
  const tile = document.createElement("canvas");
  tile.width = 8;
  tile.height = 8;
  const on = tile.getContext("2d");
  if (!on) return null;
  on.strokeStyle = "rgba(0,0,0,0.55)";
  on.lineWidth = 2;
  for (const shift of [-8, 0, 8]) {
    on.beginPath();
    on.moveTo(shift, 8);
    on.lineTo(shift + 8, 0);
    on.stroke();
  }
  hatched = context.createPattern(tile, "repeat");
  return hatched;
}
