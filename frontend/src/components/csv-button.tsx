import { App, Button } from "antd";
import { useState } from "react";
import { type Column, csvOf, download } from "../lib/csv";
import { useText } from "../lib/use-text";

type Props<Row> = {
  name: string;
  columns: Column<Row>[];
  rows: (onProgress: (count: number) => void) => Promise<Row[]> | Row[];
};

/** Downloads everything that the filter matches, not only what is in view. */
export function CsvButton<Row>({ name, columns, rows }: Props<Row>) {
  const { t, n } = useText();
  const { message } = App.useApp();
  const [count, setCount] = useState<number | null>(null);
  const run = async () => {
    setCount(0);
    try {
      download(`${name}.csv`, csvOf(columns, await rows(setCount)));
    } catch (error) {
      void message.error(error instanceof Error ? error.message : t("problem.unknown"));
    } finally {
      setCount(null);
    }
  };
  return (
    <Button onClick={run} loading={count !== null}>
      {count ? t("csv.progress", { rows: n(count) }) : t("csv.button")}
    </Button>
  );
}
