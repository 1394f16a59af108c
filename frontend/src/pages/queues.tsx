import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Input } from "antd";
import { useMemo } from "react";
import { listQueues, listQuotas } from "../api/operations";
import type { Queue, Quota } from "../api/views";
import { ChoosePool, ChooseWord } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Answer, Nothing } from "../components/feedback";
import { Page } from "../components/page";
import { QuotaBar, QuotaLegend } from "../components/quota-bar";
import { DataTable } from "../components/table";
import { QueueMark } from "../components/tags";
import { Since } from "../components/when";
import type { Column } from "../lib/csv";
import { pickRows, QUEUE_SORTS, QUEUE_VIEWS, type QuotaFilter } from "../lib/quota-filter";
import type { QuotaRow } from "../lib/quota-tree";
import { useText } from "../lib/use-text";

/** Teams with their quota bars and queues: who borrows, lends, starves. */
export function QueuesPage() {
  const { t, locale } = useText();
  const search = useSearch({ from: "/queues" });
  const navigate = useNavigate({ from: "/queues" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const quotas = useQuery({
    queryKey: ["quotas", search.pool ?? ""],
    queryFn: () => listQuotas({ pool: search.pool }),
    refetchInterval: 30_000,
  });
  const queues = useQuery({ queryKey: ["queues"], queryFn: () => listQueues() });
  const rows = useMemo(() => pickRows(quotas.data ?? [], search, locale), [quotas.data, search, locale]);
  const byTeam = useMemo(() => groupByTeam(queues.data ?? []), [queues.data]);
  return (
    <Page title={t("nav.queues")} extra={<QuotaLegend />}>
      <div className="filters">
        <Input
          className="choose"
          aria-label={t("queues.name")}
          placeholder={t("queues.name")}
          allowClear
          value={search.name ?? ""}
          onChange={(event) => set({ name: event.target.value || undefined })}
        />
        <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
        <ChooseWord
          label={t("queues.view")}
          group="queues_view"
          values={QUEUE_VIEWS}
          value={search.view}
          onChange={(view) => set({ view: view as QuotaFilter["view"] })}
        />
        <ChooseWord
          label={t("queues.sort")}
          group="queues_sort"
          values={QUEUE_SORTS}
          value={search.sort}
          onChange={(sort) => set({ sort: sort as QuotaFilter["sort"] })}
        />
        {search.team && (
          <Button onClick={() => set({ team: undefined })}>{t("queues.team", { team: search.team })}</Button>
        )}
        <CsvButton name="reeve-quotas" columns={CSV} rows={() => rows.map((row) => row.quota)} />
      </div>
      <Answer of={quotas}>
        {(all) =>
          rows.length === 0 ? (
            <Nothing
              why={t(all.length ? "queues.none_match" : "queues.none")}
              next={
                all.length ? <Link to="/queues">{t("action.clear_filters")}</Link> : t("queues.none_next")
              }
            />
          ) : (
            <QuotaTable rows={rows} queues={byTeam} />
          )
        }
      </Answer>
    </Page>
  );
}

function QuotaTable({ rows, queues }: { rows: QuotaRow[]; queues: Map<string, Queue[]> }) {
  const { t, n, duration } = useText();
  return (
    <DataTable
      label={t("nav.queues")}
      rows={rows}
      rowKey={({ quota }) => quota.team.id + quota.pool.id}
      columns={[
        {
          key: "team",
          head: t("field.team"),
          cell: ({ quota, depth }) => (
            <div className={`team-cell depth-${Math.min(depth, 4)}`}>
              <span className="name">{quota.team.name}</span>
              <div className="quiet">{quota.pool.slug}</div>
            </div>
          ),
        },
        { key: "bar", head: t("field.quota"), wide: true, cell: ({ quota }) => <QuotaBar quota={quota} /> },
        {
          key: "starved",
          head: t("queues.starved"),
          cell: ({ quota }) =>
            quota.use.seconds_waiting_below_guarantee > 0 ? (
              <strong className="bad-text">{duration(quota.use.seconds_waiting_below_guarantee)}</strong>
            ) : (
              <span className="quiet">–</span>
            ),
        },
        {
          key: "waiting",
          head: t("queues.waiting"),
          number: true,
          cell: ({ quota }) =>
            quota.use.pending_jobs > 0 ? (
              t("queues.waiting_jobs", { count: quota.use.pending_jobs, gpus: n(quota.use.pending_gpus) })
            ) : (
              <span className="quiet">–</span>
            ),
        },
        {
          key: "queues",
          head: t("nav.queues"),
          cell: ({ quota }) => <QueueLinks queues={queues.get(quota.team.id) ?? []} />,
        },
      ]}
    />
  );
}

function QueueLinks({ queues }: { queues: Queue[] }) {
  const { t, n } = useText();
  if (queues.length === 0) return <span className="quiet">–</span>;
  return (
    <ul className="bare">
      {queues.map((queue) => (
        <li key={queue.id}>
          <Link to="/queues/$id" params={{ id: queue.id }}>
            {queue.name}
          </Link>{" "}
          <span className="quiet nowrap">
            {t("queues.counts", { running: n(queue.counts.running), queued: n(queue.counts.queued) })}
          </span>
          {queue.state !== "open" && <QueueMark state={queue.state} />}
          {queue.oldest_waiting_at && (
            <div className="quiet">
              {t("queues.oldest")} <Since from={queue.oldest_waiting_at} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

function groupByTeam(queues: Queue[]): Map<string, Queue[]> {
  const groups = new Map<string, Queue[]>();
  for (const queue of queues) groups.set(queue.team.id, [...(groups.get(queue.team.id) ?? []), queue]);
  return groups;
}

const CSV: Column<Quota>[] = [
  { head: "team", cell: (quota) => quota.team.slug },
  { head: "team_name", cell: (quota) => quota.team.name },
  { head: "parent", cell: (quota) => quota.parent?.slug },
  { head: "pool", cell: (quota) => quota.pool.slug },
  { head: "guaranteed_gpus", cell: (quota) => quota.guaranteed_gpus },
  { head: "borrow_limit_gpus", cell: (quota) => quota.borrow_limit_gpus },
  { head: "lend_limit_gpus", cell: (quota) => quota.lend_limit_gpus },
  { head: "weight", cell: (quota) => quota.weight },
  { head: "used_gpus", cell: (quota) => quota.use.used_gpus },
  { head: "borrowed_gpus", cell: (quota) => quota.use.borrowed_gpus },
  { head: "lent_gpus", cell: (quota) => quota.use.lent_gpus },
  { head: "pending_gpus", cell: (quota) => quota.use.pending_gpus },
  { head: "pending_jobs", cell: (quota) => quota.use.pending_jobs },
  { head: "seconds_waiting_below_guarantee", cell: (quota) => quota.use.seconds_waiting_below_guarantee },
];
