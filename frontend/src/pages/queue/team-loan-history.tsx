import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useMemo, useState } from "react";
import { listLoans, listReclaims } from "../../api/operations";
import type { Loan, TeamRef } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { COLORS, LazyAreaChart, PATTERNS } from "../../components/lazy-chart";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { type LoanStep, loanSteps } from "../../lib/loan-steps";
import { useText } from "../../lib/use-text";

const WEEK_MS = 7 * 86_400_000;

/** Seven days of what the team borrowed and lent, with a mark for each reclaim that touched it. */
export function TeamLoanHistory({ team }: { team: TeamRef }) {
  const { t } = useText();
  const week = useQuery({
    queryKey: ["loans", "week", team.id],
    staleTime: 30_000,
    queryFn: async () => {
      const to = new Date();
      const from = new Date(to.getTime() - WEEK_MS).toISOString();
      const [loans, reclaims] = await Promise.all([
        listLoans({ team: team.id, from }),
        listReclaims({ team: team.id }),
      ]);
      return {
        steps: loanSteps(loans, team.id, beginOf(loans, from, to), to.toISOString()),
        marks: reclaims.items.map((reclaim) => reclaim.created_at).filter((at) => at >= from),
        any: loans.length > 0,
      };
    },
  });
  return (
    <Section title={t("queue.week")}>
      <Answer of={week}>
        {(data) =>
          data.any ? (
            <Week steps={data.steps} marks={data.marks} />
          ) : (
            <Nothing why={t("queue.week_none", { team: team.name })} next={t("queue.no_loans_next")} />
          )
        }
      </Answer>
    </Section>
  );
}

/** A little before the first loan, when that lies inside the week: empty days would press it to the edge. */
function beginOf(loans: Loan[], from: string, to: Date): string {
  const first = Math.min(...loans.map((loan) => Date.parse(loan.started_at)));
  if (!Number.isFinite(first)) return from;
  const begin = first - (to.getTime() - first) * 0.05;
  return new Date(Math.max(begin, Date.parse(from))).toISOString();
}

function Week({ steps, marks }: { steps: LoanStep[]; marks: string[] }) {
  const { t, n } = useText();
  const [table, setTable] = useState(false);
  const series = useMemo(
    () =>
      (["borrowed", "lent"] as const).map((kind) => ({
        name: t(`quota.kind.${kind}`),
        color: COLORS[kind],
        pattern: PATTERNS[kind],
        points: steps.map((step): [string, number] => [step.at, step[kind]]),
      })),
    [steps, t],
  );
  return (
    <>
      {table ? (
        <DataTable
          label={t("queue.week")}
          maxHeight
          rows={steps}
          rowKey={(step) => step.at}
          columns={[
            { key: "at", head: t("field.time"), cell: (step) => <When at={step.at} /> },
            {
              key: "borrowed",
              head: t("quota.kind.borrowed"),
              number: true,
              cell: (step) => n(step.borrowed),
            },
            { key: "lent", head: t("quota.kind.lent"), number: true, cell: (step) => n(step.lent) },
          ]}
        />
      ) : (
        <LazyAreaChart
          series={series}
          stacked={false}
          marks={marks}
          label={t("queue.week_label")}
          height={200}
        />
      )}
      <Button size="small" onClick={() => setTable(!table)} aria-pressed={table}>
        {table ? t("action.show_chart") : t("action.show_table")}
      </Button>
      {marks.length > 0 && <span className="quiet"> {t("queue.week_marks", { count: marks.length })}</span>}
    </>
  );
}
