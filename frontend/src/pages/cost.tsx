import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Segmented } from "antd";
import { useMemo } from "react";
import { listBudgets, showUsage, type Usage, type UsageRow } from "../api/money";
import { Choose, ChoosePool, ChooseTeam } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Answer, Nothing } from "../components/feedback";
import { Page, Section } from "../components/page";
import { DataTable } from "../components/table";
import { When } from "../components/when";
import { COST_GROUPS, COST_UNITS, type CostGroup, type CostUnit, costBars } from "../lib/cost-bars";
import type { Column } from "../lib/csv";
import { daysOf, formatHours, formatMoney, monthOf } from "../lib/money";
import { useText } from "../lib/use-text";
import { CostMenu } from "./cost/cost-menu";
import { CostPicture } from "./cost/cost-picture";
import { MonthChoice } from "./cost/month-choice";

/** What each team used and owes, and what was wasted, in a month. */
export function CostPage() {
  const { t } = useText();
  const search = useSearch({ from: "/cost" });
  const navigate = useNavigate({ from: "/cost" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const month = search.month ?? monthOf(Date.now());
  const by: CostGroup = search.by ?? "team";
  const query = { ...daysOf(month), group_by: by, team: search.team, pool: search.pool };
  const usage = useQuery({
    queryKey: ["usage", JSON.stringify(query)],
    queryFn: () => showUsage(query),
    refetchInterval: 60_000,
  });
  return (
    <Page title={t("nav.cost")}>
      <CostMenu />
      <div className="filters">
        <MonthChoice value={month} onChange={(next) => set({ month: next })} />
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
        <Choose
          label={t("cost.by")}
          all={false}
          value={by}
          options={COST_GROUPS.map((value) => ({ value, label: t(`cost_by.${value}`) }))}
          onChange={(next) => set({ by: next === "team" ? undefined : (next as CostGroup) })}
        />
        <Segmented<CostUnit>
          aria-label={t("cost.unit")}
          name="cost-unit"
          value={search.unit ?? "gpu_hours"}
          options={COST_UNITS.map((value) => ({ value, label: t(`cost_unit.${value}`) }))}
          onChange={(unit) => set({ unit: unit === "gpu_hours" ? undefined : unit })}
        />
        <Button
          aria-pressed={search.show === "table"}
          onClick={() => set({ show: search.show ? undefined : "table" })}
        >
          {t(search.show ? "action.show_chart" : "action.show_table")}
        </Button>
        <CsvButton name={`reeve-usage-${month}`} columns={CSV} rows={() => usage.data?.items ?? []} />
      </div>
      <Answer of={usage}>{(data) => <Body usage={data} by={by} unit={search.unit ?? "gpu_hours"} />}</Answer>
    </Page>
  );
}

function Body({ usage, by, unit }: { usage: Usage; by: CostGroup; unit: CostUnit }) {
  const { t } = useText();
  const search = useSearch({ from: "/cost" });
  const budgets = useQuery({ queryKey: ["budgets", ""], queryFn: () => listBudgets(), retry: false });
  const bars = useMemo(
    () => costBars(usage.items, by, unit, budgets.data ?? []),
    [usage.items, by, unit, budgets.data],
  );
  const filtered = Boolean(search.team || search.pool);
  return (
    <>
      <Totals usage={usage} />
      <Section title={t("cost.by_title", { by: t(`cost_by.${by}`) })}>
        {usage.items.length === 0 ? (
          <Nothing
            why={t(filtered ? "cost.none_match" : "cost.none")}
            next={filtered ? <Link to="/cost">{t("action.clear_filters")}</Link> : t("cost.none_next")}
          />
        ) : search.show === "table" ? (
          <UsageTable usage={usage} by={by} />
        ) : (
          <CostPicture bars={bars} by={by} unit={unit} currency={usage.currency} />
        )}
        {usage.truncated && <p className="bad-text">{t("cost.truncated")}</p>}
        {usage.as_of && (
          <p className="quiet">
            {t("verdict.as_of")} <When at={usage.as_of} />
          </p>
        )}
      </Section>
    </>
  );
}

function Totals({ usage }: { usage: Usage }) {
  const { t, locale } = useText();
  const { totals } = usage;
  const figures = [
    ["own", totals.guaranteed_gpu_hours, totals.guaranteed_cost],
    ["borrowed", totals.borrowed_gpu_hours, totals.borrowed_cost],
    ["idle", totals.idle_gpu_hours, totals.idle_cost],
    ["lent", totals.lent_gpu_hours, totals.lent_credit],
  ] as const;
  return (
    <div className="tiles">
      {figures.map(([kind, hours, cost]) => (
        <section className="tile" key={kind} aria-labelledby={`cost-${kind}`}>
          <h2 id={`cost-${kind}`}>{t(`cost_part.${kind}`)}</h2>
          <div className="figures">
            <div>
              <strong>{formatHours(hours, locale)}</strong>
              <span>{t("cost_unit.gpu_hours")}</span>
            </div>
            <div>
              <strong>{usage.currency ? formatMoney(cost, usage.currency, locale) : "–"}</strong>
              <span>{t(usage.currency ? "cost_unit.money" : "cost.unpriced")}</span>
            </div>
          </div>
        </section>
      ))}
    </div>
  );
}

function UsageTable({ usage, by }: { usage: Usage; by: CostGroup }) {
  const { t, locale } = useText();
  const hours = ["guaranteed", "borrowed", "lent", "idle", "down"] as const;
  return (
    <DataTable
      label={t("cost.by_title", { by: t(`cost_by.${by}`) })}
      windowed
      rows={usage.items}
      rowKey={(row) => JSON.stringify([row.day, row.team, row.pool, row.kind, row.priority_class, row.queue])}
      columns={[
        { key: "name", head: t(`cost_by.${by}`), wide: true, cell: (row) => <GroupName row={row} by={by} /> },
        ...hours.map((name) => ({
          key: name,
          head: t(`usage_hours.${name}`),
          number: true,
          cell: (row: UsageRow) => formatHours(row[`${name}_gpu_hours`], locale),
        })),
        {
          key: "cost",
          head: t("cost_unit.money"),
          number: true,
          cell: (row) => formatMoney(row.cost, usage.currency, locale),
        },
      ]}
    />
  );
}

function GroupName({ row, by }: { row: UsageRow; by: CostGroup }) {
  const { t, word } = useText();
  if (by === "team") return <>{row.team?.name ?? t("cost.nobody")}</>;
  if (by === "pool") return <>{row.pool?.slug ?? "–"}</>;
  if (by === "queue") return <>{row.queue?.slug ?? "–"}</>;
  if (by === "day") return <>{row.day ?? "–"}</>;
  const code = row[by];
  return <>{code ? word(by === "kind" ? "kind" : "priority", code) : "–"}</>;
}

const CSV: Column<UsageRow>[] = [
  { head: "day", cell: (row) => row.day },
  { head: "team", cell: (row) => row.team?.slug },
  { head: "pool", cell: (row) => row.pool?.slug },
  { head: "kind", cell: (row) => row.kind },
  { head: "priority_class", cell: (row) => row.priority_class },
  { head: "queue", cell: (row) => row.queue?.slug },
  { head: "guaranteed_gpu_hours", cell: (row) => row.guaranteed_gpu_hours },
  { head: "borrowed_gpu_hours", cell: (row) => row.borrowed_gpu_hours },
  { head: "lent_gpu_hours", cell: (row) => row.lent_gpu_hours },
  { head: "idle_gpu_hours", cell: (row) => row.idle_gpu_hours },
  { head: "down_gpu_hours", cell: (row) => row.down_gpu_hours },
  { head: "guaranteed_cost", cell: (row) => row.guaranteed_cost },
  { head: "borrowed_cost", cell: (row) => row.borrowed_cost },
  { head: "lent_credit", cell: (row) => row.lent_credit },
  { head: "idle_cost", cell: (row) => row.idle_cost },
  { head: "cost", cell: (row) => row.cost },
];
