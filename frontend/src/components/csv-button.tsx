import { Button } from "antd";
import { useState } from "react";
import { type Column, csvOf, download } from "../lib/csv";
import { useText } from "../lib/use-text";
import { ProblemAlert } from "./feedback";

type Props<Row> = {
  name: string;
  columns: Column<Row>[];
  rows: (onProgress: (count: number) => void) => Promise<Row[]> | Row[];
};

/** Downloads everything that the filter matches, not only what is in view. */
export function CsvButton<Row>({ name, columns, rows }: Props<Row>) {
  const { t, n } = useText();
  const [error, setError] = useState<unknown>(null);
  const [count, setCount] = useState<number | null>(null);
  const run = async () => {
    setCount(0);
    setError(null);
    try {
      download(`${name}.csv`, csvOf(columns, await rows(setCount)));
    } catch (problem) {
      setError(problem);
    } finally {
      setCount(null);
    }
  };
  return (
    <>
      <Button onClick={run} loading={count != null}>
        {count ? t("csv.progress", { rows: n(count) }) : t("csv.button")}
      </Button>
      {error ? <ProblemAlert error={error} /> : null}
    </>
  );
}
