import type { ReactNode } from "react";

export type TableColumn<Row> = {
  key: string;
  head: string;
  cell: (row: Row) => ReactNode;
  number?: boolean;
  /** Grows with the room there is. */
  wide?: boolean;
};
type Props<Row> = {
  label: string;
  columns: TableColumn<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  maxHeight?: boolean;
};

/** A plain table in a place that scrolls by keyboard too. */
export function DataTable<Row>({ label, columns, rows, rowKey, maxHeight }: Props<Row>) {
  return (
    <Scroll label={label} maxHeight={maxHeight}>
      <table className="plain">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.key} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const classOf = (column: { number?: boolean; wide?: boolean }) =>
  [column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") || undefined;

export function Scroll(props: { label: string; maxHeight?: boolean | undefined; children: ReactNode }) {
  return (
    <section
      className={`scroll${props.maxHeight ? " limited" : ""}`}
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {props.children}
    </section>
  );
}
