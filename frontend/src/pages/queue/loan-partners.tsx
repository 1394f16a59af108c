import { useQuery } from "@tanstack/react-query";
import { listLoans } from "../../api/operations";
import type { TeamRef } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { Since } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Who lends to the team and who borrows from it, now. */
export function LoanPartners({ team }: { team: TeamRef }) {
  const { t, n } = useText();
  const loans = useQuery({
    queryKey: ["loans", "open", team.id],
    queryFn: () => listLoans({ team: team.id, open: true }),
  });
  return (
    <Section title={t("queue.partners")}>
      <Answer of={loans}>
        {(all) =>
          all.length === 0 ? (
            <Nothing why={t("queue.no_loans", { team: team.name })} next={t("queue.no_loans_next")} />
          ) : (
            <DataTable
              label={t("queue.partners")}
              rows={all}
              rowKey={(loan) => loan.id}
              columns={[
                {
                  key: "lender",
                  head: t("loan.lender"),
                  cell: (loan) => loan.lender?.name ?? t("loan.nobody"),
                },
                { key: "borrower", head: t("loan.borrower"), cell: (loan) => loan.borrower.name },
                { key: "gpus", head: t("field.gpus"), number: true, cell: (loan) => n(loan.gpus) },
                { key: "pool", head: t("field.pool"), cell: (loan) => loan.pool.slug },
                {
                  key: "since",
                  head: t("loan.since"),
                  wide: true,
                  cell: (loan) => <Since from={loan.started_at} />,
                },
              ]}
            />
          )
        }
      </Answer>
    </Section>
  );
}
