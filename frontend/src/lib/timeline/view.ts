// The span of time in view: windows that follow now, panning, zooming, what to load for it, where its ticks lie.

export type View = { from: number; to: number };
export const WINDOWS = ["15m", "1h", "6h", "24h", "7d"] as const;
export type Window = (typeof WINDOWS)[number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PAST: Record<Window, number> = {
  "15m": 15 * MINUTE,
  "1h": HOUR,
  "6h": 6 * HOUR,
  "24h": DAY,
  "7d": 7 * DAY,
};
/** Of a window that follows now, so much more lies ahead: planned starts show there. */
const AHEAD = 0.25;
export const SHORTEST_MS = 5 * MINUTE;
export const LONGEST_MS = 14 * DAY;

export const follow = (window: Window, now: number): View => ({
  from: now - PAST[window],
  to: now + PAST[window] * AHEAD,
});

/** Of the windows up to the usual one, the shortest that has all there is. */
export function windowWorthSeeing(earliest: number | null, now: number): Window {
  const usual = WINDOWS.slice(0, WINDOWS.indexOf(USUAL));
  return usual.find((one) => earliest !== null && now - PAST[one] <= earliest) ?? USUAL;
}
export const USUAL: Window = "6h";

export const spanOf = (view: View) => view.to - view.from;

export const pan = (view: View, ms: number): View => ({ from: view.from + ms, to: view.to + ms });

/** Makes the span `factor` times as long around a moment that stays where it is, within bounds. */
export function zoom(view: View, factor: number, around = (view.from + view.to) / 2): View {
  const span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, spanOf(view) * factor));
  const share = (around - view.from) / spanOf(view);
  const from = around - share * span;
  return { from, to: from + span };
}

/** A view from two moments that people have written; null when it is none. */
export function viewOf(from: string | undefined, to: string | undefined): View | null {
  const view = { from: Date.parse(from ?? ""), to: Date.parse(to ?? "") };
  const span = spanOf(view);
  return Number.isFinite(span) && span >= SHORTEST_MS && span <= LONGEST_MS ? view : null;
}

const STEPS = [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 8 * DAY, 15 * DAY];

/** What is loaded for a view: whole steps, so that a small move asks for nothing new. Never more than 30 days. */
export function cover(view: View): View {
  const step = STEPS.find((one) => one >= spanOf(view)) ?? LONGEST_MS;
  return { from: Math.floor(view.from / step) * step, to: Math.ceil(view.to / step) * step };
}

const TICKS = [
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
];

/** Round moments of the reader's own clock, at most one for each `roomPx`. */
export function ticksOf(view: View, widthPx: number, roomPx: number): number[] {
  const most = Math.max(1, Math.floor(widthPx / roomPx));
  const step = TICKS.find((one) => spanOf(view) / one <= most) ?? 7 * DAY;
  const offset = new Date(view.from).getTimezoneOffset() * MINUTE;
  const ticks: number[] = [];
  for (let at = Math.ceil((view.from - offset) / step) * step + offset; at <= view.to; at += step) {
    ticks.push(at);
  }
  return ticks;
}
