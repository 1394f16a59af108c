import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type Statement, type StatementLine, showStatement } from "../../api/money";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { Page, Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { formatHours, formatMoney } from "../../lib/money";
import { useText } from "../../lib/use-text";
import { CostMenu } from "./cost-menu";
import { MonthMark } from "./months";

/** One team's statement of one month, line by line. */
export function StatementPage() {
  const { t } = useText();
  const { month, team } = useParams({ from: "/cost/statements/$month/$team" });
  const statement = useQuery({
    queryKey: ["statements", month, team],
    queryFn: () => showStatement(month, team),
  });
  return (
    <Page
      title={t("statement.title", { team: statement.data?.team.name ?? team, month })}
      extra={statement.data && <MonthMark state={statement.data.state} />}
      actions={
        <CsvButton
          name={`reeve-statement-${team}-${month}`}
          columns={CSV}
          rows={() => statement.data?.lines ?? []}
        />
      }
    >
      <CostMenu />
      <p>
        <Link to="/cost/months" search={{ month }}>
          {t("statement.all_teams", { month })}
        </Link>
      </p>
      <Answer of={statement}>{(data) => <Body statement={data} />}</Answer>
    </Page>
  );
}

function Body({ statement }: { statement: Statement }) {
  const { t, word, locale } = useText();
  const money = (text: string) => formatMoney(text, statement.currency, locale);
  return (
    <>
      <p className="verdict">{t("statement.total", { total: money(statement.total) })}</p>
      {statement.unpriced && <p className="bad-text">{t("month.unpriced")}</p>}
      <Section title={t("statement.lines")}>
        {statement.lines.length === 0 ? (
          <Nothing why={t("statement.none")} next={t("cost.none_next")} />
        ) : (
          <DataTable
            label={t("statement.lines")}
            rows={statement.lines}
            rowKey={(line) => JSON.stringify(line)}
            columns={[
              { key: "share", head: t("statement.share"), cell: (line) => word("share", line.share) },
              { key: "pool", head: t("field.pool"), cell: (line) => line.pool.slug },
              { key: "queue", head: t("field.queue"), cell: (line) => line.queue?.slug ?? "–" },
              {
                key: "kind",
                head: t("field.kind"),
                cell: (line) => (line.kind ? word("kind", line.kind) : "–"),
              },
              {
                key: "class",
                head: t("field.priority"),
                cell: (line) => (line.priority_class ? word("priority", line.priority_class) : "–"),
              },
              { key: "lender", head: t("loan.lender"), cell: (line) => line.lender?.name ?? "–" },
              { key: "borrower", head: t("loan.borrower"), cell: (line) => line.borrower?.name ?? "–" },
              {
                key: "hours",
                head: t("cost_unit.gpu_hours"),
                number: true,
                cell: (line) => formatHours(line.gpu_hours, locale),
              },
              {
                key: "price",
                head: t("price.per_hour"),
                number: true,
                cell: (line) => line.price_per_gpu_hour ?? "–",
              },
              { key: "cost", head: t("cost_unit.money"), number: true, cell: (line) => money(line.cost) },
            ]}
          />
        )}
      </Section>
      {statement.corrections.length > 0 && (
        <Section title={t("month.corrections")}>
          <DataTable
            label={t("month.corrections")}
            rows={statement.corrections}
            rowKey={(row) => row.id}
            columns={[
              { key: "month", head: t("statement.corrects"), cell: (row) => row.corrects_month },
              { key: "amount", head: t("budget.amount"), number: true, cell: (row) => money(row.amount) },
              { key: "reason", head: t("approval.reason"), wide: true, cell: (row) => row.reason },
              { key: "by", head: t("field.user"), cell: (row) => row.created_by.display_name },
              { key: "at", head: t("field.time"), cell: (row) => <When at={row.created_at} /> },
            ]}
          />
        </Section>
      )}
    </>
  );
}

const CSV: Column<StatementLine>[] = [
  { head: "share", cell: (line) => line.share },
  { head: "pool", cell: (line) => line.pool.slug },
  { head: "queue", cell: (line) => line.queue?.slug },
  { head: "kind", cell: (line) => line.kind },
  { head: "priority_class", cell: (line) => line.priority_class },
  { head: "lender", cell: (line) => line.lender?.slug },
  { head: "borrower", cell: (line) => line.borrower?.slug },
  { head: "gpu_hours", cell: (line) => line.gpu_hours },
  { head: "price_per_gpu_hour", cell: (line) => line.price_per_gpu_hour },
  { head: "cost", cell: (line) => line.cost },
];
