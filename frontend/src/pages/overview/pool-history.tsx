import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useMemo, useState } from "react";
import { showHistory } from "../../api/operations";
import type { HistoryPoint } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { COLORS, LazyAreaChart } from "../../components/lazy-chart";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";

const KINDS = ["own", "borrowed", "idle", "down"] as const;

/** 24 hours of a pool: own, borrowed, idle, down. The same figures as a table for those who cannot see areas. */
export function PoolHistory({ pool }: { pool: string }) {
  const { t } = useText();
  const [table, setTable] = useState(false);
  const history = useQuery({
    queryKey: ["history", pool],
    queryFn: () => showHistory(pool, 24),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
  return (
    <Answer of={history}>
      {({ points }) =>
        points.length === 0 ? (
          <Nothing why={t("overview.no_history")} next={t("overview.no_history_next")} />
        ) : (
          <>
            {table ? <HistoryTable points={points} /> : <HistoryChart points={points} />}
            <Button size="small" onClick={() => setTable(!table)} aria-pressed={table}>
              {table ? t("action.show_chart") : t("action.show_table")}
            </Button>
          </>
        )
      }
    </Answer>
  );
}

function HistoryChart({ points }: { points: HistoryPoint[] }) {
  const { t } = useText();
  const series = useMemo(
    () =>
      KINDS.map((kind) => ({
        name: t(`history.${kind}`),
        color: COLORS[kind],
        points: points.map((point): [string, number] => [point.at, point[`${kind}_gpus`]]),
      })),
    [points, t],
  );
  return <LazyAreaChart series={series} stacked label={t("overview.history_label")} />;
}

function HistoryTable({ points }: { points: HistoryPoint[] }) {
  const { t, n } = useText();
  return (
    <DataTable
      label={t("overview.history_label")}
      maxHeight
      rows={points}
      rowKey={(point) => point.at}
      columns={[
        { key: "at", head: t("field.time"), cell: (point) => <When at={point.at} /> },
        ...KINDS.map((kind) => ({
          key: kind,
          head: t(`history.${kind}`),
          number: true,
          cell: (point: HistoryPoint) => n(point[`${kind}_gpus`]),
        })),
      ]}
    />
  );
}
