import type { EChartsCoreOption } from "echarts/core";
import { useEffect, useRef } from "react";
import { useText } from "../lib/use-text";
import { useDark } from "../settings/preferences";
import { core } from "./echarts";

export type Pattern = "solid" | "hatched" | "faint" | "dots";
export type Series = { name: string; color: string; pattern: Pattern; points: [string, number][] };
export type AreaChartProps = {
  series: Series[];
  label: string;
  stacked: boolean;
  marks?: string[];
  height?: number;
};

/** Areas over time, in steps: what is drawn held from one point to the next. */
export default function AreaChart({ series, label, stacked, marks = [], height = 240 }: AreaChartProps) {
  const { locale, n, dateTime } = useText();
  const dark = useDark();
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current) return;
    const chart = core.init(element.current);
    const observer = new ResizeObserver(() => chart.resize());
    observer.observe(element.current);
    const ink = dark ? "#d0d7de" : "#333";
    const short = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hour12: false });
    const day = new Intl.DateTimeFormat(locale, { month: "numeric", day: "numeric" });
    const option: EChartsCoreOption = {
      animation: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      animationDuration: 200,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      aria: { enabled: true, decal: { show: true } },
      grid: { left: 8, right: 16, top: 36, bottom: 8, containLabel: true },
      legend: { top: 0, left: 0, textStyle: { color: ink } },
      tooltip: {
        trigger: "axis",
        renderMode: "richText",
        backgroundColor: dark ? "#1c2430" : "#fff",
        textStyle: { color: ink },
        formatter: (rows: { seriesName: string; value: [string, number] }[]) =>
          [
            dateTime(String(rows[0]?.value[0])),
            ...rows.map((row) => `${row.seriesName}  ${n(Number(row.value[1]))}`),
          ].join("\n"),
      },
      xAxis: {
        type: "time",
        axisLabel: {
          color: ink,
          hideOverlap: true,
          formatter: (at: number) => {
            const date = new Date(at);
            return date.getHours() === 0 && date.getMinutes() === 0 ? day.format(date) : short.format(date);
          },
        },
        axisLine: { lineStyle: { color: ink } },
      },
      yAxis: {
        type: "value",
        minInterval: 1,
        axisLabel: { color: ink, formatter: (value: number) => n(value) },
        splitLine: { lineStyle: { color: dark ? "#2d3748" : "#e5e7eb" } },
      },
      series: series.map((one, index) => ({
        name: one.name,
        type: "line",
        step: "end",
        showSymbol: false,
        ...(stacked && { stack: "all" }),
        data: one.points,
        // Stacked areas touch: a line of a part that is nothing would lie on its neighbour.
        lineStyle: { color: one.color, width: stacked ? 0 : 1.5 },
        itemStyle: { color: one.color, decal: DECALS[one.pattern] },
        areaStyle: { color: one.color, opacity: one.pattern === "faint" ? 0.3 : 0.75 },
        ...(index === 0 &&
          marks.length > 0 && {
            markLine: {
              symbol: ["none", "triangle"],
              label: { show: false },
              lineStyle: { color: "#D55E00", type: "solid", width: 1 },
              data: marks.map((at) => ({ xAxis: at })),
            },
          }),
      })),
    };
    chart.setOption(option);
    return () => {
      observer.disconnect();
      chart.dispose();
    };
  }, [series, stacked, marks, dark, locale, n, dateTime]);
  return <div ref={element} role="img" aria-label={label} className="chart" style={{ height }} />;
}

// The colour never speaks alone.
const line = "rgba(0,0,0,0.35)";
const DECALS = {
  solid: { color: "transparent" },
  faint: { color: "transparent" },
  hatched: { symbol: "rect", color: line, dashArrayX: [1, 0], dashArrayY: [2, 6], rotation: Math.PI / 4 },
  dots: { symbol: "circle", color: line, symbolSize: 0.7, dashArrayX: [6, 6], dashArrayY: [6, 6] },
} as const;
