import { Skeleton } from "antd";
import { lazy, Suspense } from "react";
import type { AreaChartProps, Pattern } from "../charts/area-chart";

const AreaChart = lazy(() => import("../charts/area-chart"));

export function LazyAreaChart(props: AreaChartProps) {
  return (
    <Suspense fallback={<Skeleton active title={false} paragraph={{ rows: 5 }} />}>
      <AreaChart {...props} />
    </Suspense>
  );
}

/** The kinds of GPU time in the chart, the colours those of the quota bar. */
/** Their patterns: borrowed is hatched and lent dotted, as in the quota bar. */
export const PATTERNS = {
  own: "solid",
  borrowed: "hatched",
  lent: "dots",
  idle: "faint",
  down: "dots",
} as const satisfies Record<string, Pattern>;

export const COLORS = {
  own: "#0072B2",
  borrowed: "#E69F00",
  lent: "#56B4E9",
  idle: "#BBBBBB",
  down: "#D55E00",
} as const;
