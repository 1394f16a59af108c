import { useQuery } from "@tanstack/react-query";
import { Button, Segmented } from "antd";
import { type ReactNode, useMemo, useState } from "react";
import { showHistory } from "../../api/operations";
import type { HistoryPoint } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { COLORS, LazyAreaChart, PATTERNS } from "../../components/lazy-chart";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { HISTORY_HOURS, type HistoryHours, hoursWorthSeeing } from "../../lib/history-hours";
import { useText } from "../../lib/use-text";

const KINDS = ["own", "borrowed", "idle", "down"] as const;

type Props = {
  pool: string;
  chosenHours: HistoryHours | undefined;
  onHours: (hours: HistoryHours) => void;
  extra: ReactNode;
};

/** A pool over time: own, borrowed, idle, down. The same figures as a table for those who cannot see areas. */
export function PoolHistory({ pool, chosenHours, onHours, extra }: Props) {
  const { t } = useText();
  const [table, setTable] = useState(false);
  const day = useHistory(pool, "24");
  const hours = chosenHours ?? hoursWorthSeeing(day.data?.points ?? [], Date.now());
  const history = useHistory(pool, hours);
  return (
    <Section
      title={t("overview.history")}
      extra={
        <>
          {extra}
          <Segmented
            aria-label={t("history.range")}
            name="history-hours"
            value={hours}
            options={HISTORY_HOURS.map((value) => ({ value, label: t(`history.hours_${value}`) }))}
            onChange={onHours}
          />
        </>
      }
    >
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
    </Section>
  );
}

function useHistory(pool: string, hours: HistoryHours) {
  return useQuery({
    queryKey: ["history", pool, hours],
    queryFn: () => showHistory(pool, Number(hours)),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
}

function HistoryChart({ points }: { points: HistoryPoint[] }) {
  const { t } = useText();
  const series = useMemo(
    () =>
      KINDS.map((kind) => ({
        name: t(`history.${kind}`),
        color: COLORS[kind],
        pattern: PATTERNS[kind],
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
