import { Button } from "antd";
import { useMemo, useState } from "react";
import { useText } from "../lib/use-text";
import { COLORS, LazyAreaChart } from "./lazy-chart";
import { DataTable } from "./table";
import { When } from "./when";

/** Shares in percent; a stretch without a point is one without samples. */
export type UsePoint = { at: string; mean: number | null; max: number; memory_mib: number };
type Props = { points: UsePoint[]; bucketSecs: number; label: string };

/** How busy GPUs were over time, as a chart or as a table with the same figures. */
export function UseChart({ points, bucketSecs, label }: Props) {
  const { t, n } = useText();
  const [table, setTable] = useState(false);
  const series = useMemo(() => {
    const of = (read: (point: UsePoint) => number) => withGaps(points, bucketSecs, read);
    return [
      {
        name: t("gpu_use.max"),
        color: COLORS.lent,
        pattern: "faint" as const,
        points: of((point) => point.max),
      },
      {
        name: t("gpu_use.mean"),
        color: COLORS.own,
        pattern: "solid" as const,
        points: of((point) => point.mean ?? 0),
      },
    ];
  }, [points, bucketSecs, t]);
  return (
    <>
      {table ? (
        <DataTable
          label={label}
          maxHeight
          rows={points}
          rowKey={(point) => point.at}
          columns={[
            { key: "at", head: t("field.time"), cell: (point) => <When at={point.at} /> },
            {
              key: "mean",
              head: t("gpu_use.mean"),
              number: true,
              cell: (point) => (point.mean == null ? "–" : n(point.mean)),
            },
            { key: "max", head: t("gpu_use.max"), number: true, cell: (point) => n(point.max) },
            {
              key: "memory",
              head: t("gpu_use.memory_mib"),
              number: true,
              cell: (point) => n(point.memory_mib),
            },
          ]}
        />
      ) : (
        <LazyAreaChart series={series} stacked={false} label={label} height={200} />
      )}
      <Button size="small" onClick={() => setTable(!table)} aria-pressed={table}>
        {table ? t("action.show_chart") : t("action.show_table")}
      </Button>
    </>
  );
}

/** Where samples are missing the line falls to nothing, and rises where they come again. */
export function withGaps(
  points: UsePoint[],
  bucketSecs: number,
  read: (point: UsePoint) => number,
): [string, number][] {
  const drawn: [string, number][] = [];
  let end: number | null = null;
  for (const point of points) {
    const at = Date.parse(point.at);
    if (end != null && at > end) drawn.push([new Date(end).toISOString(), 0]);
    drawn.push([point.at, read(point)]);
    end = at + bucketSecs * 1000;
  }
  if (end != null) drawn.push([new Date(end).toISOString(), 0]);
  return drawn;
}
