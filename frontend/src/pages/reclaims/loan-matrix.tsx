import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { showLoanMatrix } from "../../api/operations";
import type { LoanMatrix as Matrix } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { Patterns } from "../../components/quota-bar";
import { Scroll } from "../../components/table";
import { compareNames } from "../../lib/format";
import { useText } from "../../lib/use-text";

/** Who lends (rows) to whom (columns) in a pool, now. */
export function LoanMatrix({ pool }: { pool: string }) {
  const { t } = useText();
  const matrix = useQuery({ queryKey: ["loans", "matrix", pool], queryFn: () => showLoanMatrix(pool) });
  return (
    <Answer of={matrix}>
      {(data) =>
        data.cells.length === 0 ? (
          <Nothing why={t("loan.none", { pool })} next={t("loan.none_next")} />
        ) : (
          <MatrixTable matrix={data} />
        )
      }
    </Answer>
  );
}

function MatrixTable({ matrix }: { matrix: Matrix }) {
  const { t, n, locale } = useText();
  const id = useId();
  const nobody = t("loan.nobody");
  const names = (pick: (cell: Matrix["cells"][number]) => [string, string]) =>
    [...new Map(matrix.cells.map(pick))].sort((a, b) => compareNames(a[1], b[1], locale));
  const lenders = names((cell) => [cell.lender?.id ?? "", cell.lender?.name ?? nobody]);
  const borrowers = names((cell) => [cell.borrower.id, cell.borrower.name]);
  const at = (lender: string, borrower: string) =>
    matrix.cells.find((cell) => (cell.lender?.id ?? "") === lender && cell.borrower.id === borrower)?.gpus ??
    0;
  const sum = (of: number[]) => of.reduce((all, one) => all + one, 0);
  const most = Math.max(...matrix.cells.map((cell) => cell.gpus), 1);
  return (
    <Scroll label={t("loan.matrix")}>
      <table className="plain matrix">
        <caption>{t("loan.caption")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("loan.corner")}</th>
            {borrowers.map(([id, name]) => (
              <th key={id} scope="col" className="number">
                {name}
              </th>
            ))}
            <th scope="col" className="number">
              {t("loan.lends")}
            </th>
          </tr>
        </thead>
        <tbody>
          {lenders.map(([lender, name]) => (
            <tr key={lender}>
              <th scope="row">{name}</th>
              {borrowers.map(([borrower]) => {
                const gpus = at(lender, borrower);
                return (
                  <td key={borrower} className="number">
                    {gpus > 0 ? (
                      <span className="loan">
                        {n(gpus)}
                        <svg width={4 + (gpus / most) * 44} height="16" aria-hidden="true">
                          <Patterns id={`${id}-${lender}-${borrower}`} />
                          <rect
                            className="quota-borrowed"
                            width="100%"
                            height="16"
                            fill={`url(#${id}-${lender}-${borrower}-borrowed)`}
                          />
                        </svg>
                      </span>
                    ) : (
                      <span className="quiet">·</span>
                    )}
                  </td>
                );
              })}
              <td className="number">
                <strong>{n(sum(borrowers.map(([borrower]) => at(lender, borrower))))}</strong>
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t("loan.borrows")}</th>
            {borrowers.map(([borrower]) => (
              <td key={borrower} className="number">
                <strong>{n(sum(lenders.map(([lender]) => at(lender, borrower))))}</strong>
              </td>
            ))}
            <td className="number">
              <strong>{n(sum(matrix.cells.map((cell) => cell.gpus)))}</strong>
            </td>
          </tr>
        </tbody>
      </table>
    </Scroll>
  );
}
