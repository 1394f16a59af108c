import { type RefObject, useCallback, useLayoutEffect, useMemo, useState } from "react";
import type { Theme } from "../../lib/timeline/draw";
import { spanOf, type View } from "../../lib/timeline/view";
import { useText } from "../../lib/use-text";
import { useDark } from "../../settings/preferences";

/** The width that an element has, as it changes. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  // Before the first picture is shown: it would be an empty one.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

/** The page's colours for a canvas, which knows no style sheet. */
export function useTheme(): Theme {
  const dark = useDark();
  return useMemo(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    return {
      dark,
      ink: color("--ink"),
      quiet: color("--quiet"),
      line: color("--line"),
      card: color("--card"),
      ground: color("--ground"),
      bad: color("--bad"),
      focus: color("--focus"),
      font: getComputedStyle(document.body).fontFamily,
    };
  }, [dark]);
}

const DAY_MS = 86_400_000;
/** A tick's words: the time, with the day at midnight and in long spans. */
export function useTickLabel() {
  const { locale } = useText();
  const formats = useMemo(() => {
    const make = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
    return {
      time: make({ hour: "2-digit", minute: "2-digit", hour12: false }),
      day: make({ month: "short", day: "numeric" }),
    };
  }, [locale]);
  return useCallback(
    (at: number, view: View) => {
      const date = new Date(at);
      const midnight = date.getHours() === 0 && date.getMinutes() === 0;
      return midnight || spanOf(view) > 7 * DAY_MS ? formats.day.format(date) : formats.time.format(date);
    },
    [formats],
  );
}
