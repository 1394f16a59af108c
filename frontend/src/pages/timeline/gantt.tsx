import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Bar, Picture } from "../../lib/timeline/bars";
import { draw } from "../../lib/timeline/draw";
import {
  AXIS_PX,
  barAt,
  boxOf,
  type Geometry,
  heightOf,
  LANES_PX,
  momentOf,
  neighbour,
  type RowSize,
  rowTop,
  type Step,
} from "../../lib/timeline/find";
import type { Painter } from "../../lib/timeline/paint";
import { pan, spanOf, ticksOf, type View, zoom } from "../../lib/timeline/view";
import { useText } from "../../lib/use-text";
import { useLive } from "../../live/context";
import { BarCard, barText, useBarName } from "./bar-card";
import { useTheme, useTickLabel, useWidth } from "./use-canvas";
import { usePointer } from "./use-pointer";

type Props = {
  picture: Picture;
  painter: Painter;
  view: View;
  now: number;
  size: RowSize;
  onView: (view: View) => void;
};
const MOST_HEIGHT_PX = 620;
const COMMIT_MS = 250;
const STEPS: Record<string, Step> = {
  ArrowRight: "next",
  ArrowLeft: "previous",
  ArrowDown: "down",
  ArrowUp: "up",
  Home: "first",
};

/**
 * Bars on a canvas that shows only the rows in view, so that thousands of GPUs and tens of thousands of bars stay smooth.
 * Whatever a pointer does here, keys do too; the table says the same in words.
 */
export function Gantt({ picture, painter, view: given, now, size, onView }: Props) {
  const { t, n } = useText();
  const text = useText();
  const navigate = useNavigate();
  const { stale } = useLive();
  const helpId = useId();
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const theme = useTheme();
  const tickLabel = useTickLabel();
  const nameOf = useBarName();
  const [scrollTop, setScrollTop] = useState(0);
  const [focused, setFocused] = useState<string | null>(null);
  const [hovered, setHovered] = useState<{ key: string; x: number; y: number } | null>(null);
  const { view, move } = useMovedView(given, onView);

  const lanePx = LANES_PX[size];
  const all = heightOf(picture, lanePx);
  const height = Math.min(MOST_HEIGHT_PX, Math.max(all, 60));
  const namesPx = width < 640 ? 92 : 160;
  const geometry: Geometry = useMemo(
    () => ({ width, height, namesPx, lanePx, view, scrollTop }),
    [width, height, namesPx, lanePx, view, scrollTop],
  );
  const byKey = useMemo(() => new Map(picture.bars.map((bar) => [bar.key, bar])), [picture.bars]);

  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const scale = window.devicePixelRatio || 1;
    const pixels = { width: Math.round(width * scale), height: Math.round((height + AXIS_PX) * scale) };
    if (element.width !== pixels.width || element.height !== pixels.height) Object.assign(element, pixels);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const ticks = ticksOf(view, width - namesPx, 84).map((at) => ({ at, label: tickLabel(at, view) }));
    const scene = { picture, geometry, now, nowLabel: t("timeline.now"), ticks, nameOf, theme };
    const drawn = draw(context, { ...scene, paintOf: painter.paintOf });
    element.dataset.drawn = String(drawn);
    element.dataset.bars = String(picture.bars.length);
  }, [picture, painter, geometry, view, width, height, namesPx, now, theme, tickLabel, nameOf, t]);

  const open = (bar: Bar | null | undefined) => {
    if (bar?.reservation || bar?.maintenance) return void navigate({ to: "/calendar" });
    const id = bar?.run?.job.id ?? bar?.planned?.job.id;
    if (id) void navigate({ to: "/jobs/$id", params: { id } });
  };
  const find = (x: number, y: number) => barAt(picture, geometry, now, x, y);
  usePointer(canvas, {
    onPan: (px) => move(pan(view, (-px / Math.max(1, width - namesPx)) * spanOf(view))),
    onZoom: (factor, x) => move(zoom(view, factor, momentOf(geometry, x))),
    onHover: (x, y) => {
      const bar = find(x, y);
      setHovered(bar ? { key: bar.key, x, y } : null);
      return bar !== null;
    },
    onLeave: () => setHovered(null),
    onClick: (x, y) => {
      const bar = find(x, y);
      if (!bar) return;
      const place = boxOf(picture, geometry, bar, now);
      const onEnd = bar.end === "evicted" && place && place.width > 24 && x >= place.left + place.width - 8;
      if (onEnd && bar.evictionId) void navigate({ to: "/evictions/$id", params: { id: bar.evictionId } });
      else open(bar);
    },
  });

  const show = (bar: Bar | null) => {
    setFocused(bar?.key ?? null);
    setHovered(null);
    const row = bar && picture.rows[bar.row];
    if (!bar || !row) return;
    const top = rowTop(row, bar.row, lanePx);
    const bottom = top + row.lanes * lanePx;
    const element = box.current;
    if (element && (top < scrollTop || bottom > scrollTop + height))
      element.scrollTop = Math.max(0, top - height / 3);
    if (bar.from > view.to || bar.to < view.from) move(pan(view, bar.from - view.from - spanOf(view) * 0.2));
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const bar = focused ? (byKey.get(focused) ?? null) : null;
    const step = STEPS[event.key];
    if (event.shiftKey && event.key === "ArrowLeft") move(pan(view, -spanOf(view) / 4));
    else if (event.shiftKey && event.key === "ArrowRight") move(pan(view, spanOf(view) / 4));
    else if (step) show(neighbour(picture, bar, step, view));
    else if (event.key === "+" || event.key === "=") move(zoom(view, 0.5));
    else if (event.key === "-") move(zoom(view, 2));
    else if (event.key === "Enter" && bar) open(bar);
    else if (event.key === "e" && bar?.evictionId)
      void navigate({ to: "/evictions/$id", params: { id: bar.evictionId } });
    else if (event.key === "Escape") {
      setFocused(null);
      setHovered(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const focusedBar = focused ? byKey.get(focused) : undefined;
  const cardBar = hovered ? byKey.get(hovered.key) : focusedBar;
  const cardAt = cardPlace(hovered, cardBar ? boxOf(picture, geometry, cardBar, now) : null, geometry);
  return (
    <>
      <div className={`timeline-frame${stale ? " stale" : ""}`}>
        <section
          ref={box}
          className="timeline-scroll"
          style={{ height: height + AXIS_PX }}
          role="application"
          aria-label={t("timeline.label", { rows: n(picture.rows.length), bars: n(picture.bars.length) })}
          aria-describedby={helpId}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes the keys of the picture
          tabIndex={0}
          onKeyDown={onKeyDown}
          onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
        >
          <div style={{ height: Math.max(all, 60) + AXIS_PX }}>
            <canvas ref={canvas} className="timeline-canvas" style={{ height: height + AXIS_PX }} />
          </div>
        </section>
        {cardBar && <BarMark box={boxOf(picture, geometry, cardBar, now)} focused={!hovered} />}
        {cardBar && <BarCard bar={cardBar} picture={picture} at={cardAt} />}
      </div>
      <p id={helpId} className="quiet timeline-help">
        {t("timeline.help")}
      </p>
      <output className="hidden" aria-live="polite">
        {focusedBar ? barText(focusedBar, picture, text).join(". ") : ""}
      </output>
    </>
  );
}

/** Around the bar under the pointer or in focus: laid over the picture, which need not be drawn anew for it. */
function BarMark({ box, focused }: { box: ReturnType<typeof boxOf>; focused: boolean }) {
  if (!box) return null;
  const { left, top, width, height } = box;
  return <div className={`bar-mark${focused ? " focused" : ""}`} style={{ left, top, width, height }} />;
}

/** Beside the pointer, or below the bar that has the focus; always inside the frame. */
function cardPlace(
  hovered: { x: number; y: number } | null,
  box: { left: number; top: number; height: number } | null,
  geometry: Geometry,
) {
  const x = hovered ? hovered.x + 14 : (box?.left ?? geometry.namesPx);
  const y = hovered ? hovered.y + 14 : box ? box.top + box.height + 6 : AXIS_PX;
  const right = x > geometry.width / 2;
  const low = y > geometry.height * 0.6;
  return {
    ...(right ? { right: geometry.width - x + (hovered ? 28 : 0) } : { left: x }),
    ...(low ? { bottom: geometry.height + AXIS_PX - y + (hovered ? 28 : 24) } : { top: y }),
  };
}

/** The view while it moves: at once here, in the address when it has come to rest. */
function useMovedView(given: View, onView: (view: View) => void) {
  const [moved, setMoved] = useState<View | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const commit = useRef(onView);
  commit.current = onView;
  const key = `${given.from}-${given.to}`;
  // A view given anew (a button, the address) takes the place of what was moved; time passing does not.
  const before = useRef(key);
  useEffect(() => {
    if (before.current !== key && timer.current === undefined) setMoved(null);
    before.current = key;
  }, [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = (next: View) => {
    setMoved(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      commit.current({ from: Math.round(next.from), to: Math.round(next.to) });
    }, COMMIT_MS);
  };
  return { view: moved ?? given, move };
}
