import { type RefObject, useEffect, useRef } from "react";

type Acts = {
  /** Dragged or wheeled sideways by so many pixels. */
  onPan: (px: number) => void;
  onZoom: (factor: number, x: number) => void;
  /** Answers whether something lies there. */
  onHover: (x: number, y: number) => boolean;
  onLeave: () => void;
  onClick: (x: number, y: number) => void;
};
const DRAG_FROM_PX = 4;

/** A pointer on the canvas: drag and sideways wheel pan, Ctrl + wheel zooms, once a frame at most. */
export function usePointer(canvas: RefObject<HTMLCanvasElement | null>, acts: Acts) {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    let held: { id: number; x: number; dragging: boolean } | null = null;
    let owed = 0;
    let factor = 1;
    let zoomAt = 0;
    let hover: { x: number; y: number } | null = null;
    let frame = 0;
    const run = () => {
      frame = 0;
      if (owed !== 0) latest.current.onPan(owed);
      if (factor !== 1) latest.current.onZoom(factor, zoomAt);
      if (hover) element.style.cursor = latest.current.onHover(hover.x, hover.y) ? "pointer" : "grab";
      owed = 0;
      factor = 1;
      hover = null;
    };
    const soon = () => {
      frame ||= requestAnimationFrame(run);
    };
    const at = (event: MouseEvent) => {
      const place = element.getBoundingClientRect();
      return { x: event.clientX - place.left, y: event.clientY - place.top };
    };
    const onDown = (event: PointerEvent) => {
      if (event.button === 0) held = { id: event.pointerId, x: event.clientX, dragging: false };
    };
    const onMove = (event: PointerEvent) => {
      if (held?.id === event.pointerId) {
        const by = event.clientX - held.x;
        if (!held.dragging && Math.abs(by) < DRAG_FROM_PX) return;
        if (!held.dragging) {
          held.dragging = true;
          element.setPointerCapture(event.pointerId);
          element.style.cursor = "grabbing";
          latest.current.onLeave();
        }
        owed += by;
        held.x = event.clientX;
      } else hover = at(event);
      soon();
    };
    const onUp = (event: PointerEvent) => {
      if (held && !held.dragging) {
        const { x, y } = at(event);
        latest.current.onClick(x, y);
      }
      held = null;
      element.style.cursor = "grab";
    };
    const onLeave = () => {
      hover = null;
      latest.current.onLeave();
    };
    const onWheel = (event: WheelEvent) => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        factor *= Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200);
        zoomAt = at(event).x;
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) owed -= sideways;
      else return;
      event.preventDefault();
      soon();
    };
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onLeave);
    element.addEventListener("pointerleave", onLeave);
    // Not passive: a zoom must not zoom the page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onLeave);
      element.removeEventListener("pointerleave", onLeave);
      element.removeEventListener("wheel", onWheel);
    };
  }, [canvas]);
}
