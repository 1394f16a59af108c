import type { Explain } from "../../api/views";
import { DataTable } from "../../components/table";
import { type Figure, figuresOf } from "../../lib/figures";
import { useText } from "../../lib/use-text";

type Obstacle = NonNullable<Explain["verdict"]>;

/** Each obstacle with the rule behind it and the planner's own numbers; the one that decides comes first. */
export function Evidence({ explain }: { explain: Explain }) {
  const { t, n, word, duration } = useText();
  const rows: Obstacle[] = explain.verdict ? [explain.verdict, ...explain.others] : [];
  const amount = ({ value, unit }: Figure) =>
    unit === "secs" ? duration(value) : unit === "gpus" ? t("unit.gpus", { gpus: n(value) }) : n(value);
  return (
    <DataTable
      label={t("evidence.title")}
      rows={rows}
      rowKey={(row) => `${row.code}/${row.detail ?? ""}/${JSON.stringify(row.numbers)}`}
      columns={[
        {
          key: "obstacle",
          head: t("evidence.obstacle"),
          cell: (row) =>
            row === explain.verdict ? <strong>{word("reason", row.code)}</strong> : word("reason", row.code),
        },
        { key: "rule", head: t("eviction.rule"), cell: (row) => word("reason_rule", row.code) },
        {
          key: "figures",
          head: t("evidence.figures"),
          wide: true,
          cell: (row) => {
            const figures = figuresOf(row.numbers);
            if (figures.length === 0) return <span className="quiet">{t("evidence.no_figures")}</span>;
            return (
              <dl className="figure-list">
                {figures.map((figure) => (
                  <div key={figure.name}>
                    <dt>{word("figure", figure.name)}</dt>
                    <dd>{amount(figure)}</dd>
                  </div>
                ))}
              </dl>
            );
          },
        },
      ]}
    />
  );
}
