import { type ReactNode, type UIEvent, useState } from "react";
import { rowsInView } from "../lib/window";

export type TableColumn<Row> = {
  key: string;
  head: string;
  /** Stands in the head instead of its words. */
  headCell?: ReactNode;
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
  /** Rows of one height, of which only those in view are made. */
  windowed?: boolean;
};

const ROW_PX = 42;
const VIEW_PX = 640;
const WINDOW_FROM_ROWS = 150;

/** A plain table in a place that scrolls by keyboard too. */
export function DataTable<Row>({ label, columns, rows, rowKey, maxHeight, windowed }: Props<Row>) {
  const [top, setTop] = useState(0);
  const long = windowed === true && rows.length > WINDOW_FROM_ROWS;
  const { from, to } = long ? rowsInView(rows.length, top, VIEW_PX, ROW_PX) : { from: 0, to: rows.length };
  const onScroll = long ? (event: UIEvent<HTMLElement>) => setTop(event.currentTarget.scrollTop) : undefined;
  return (
    <Scroll label={label} maxHeight={maxHeight} long={long} onScroll={onScroll}>
      <table className={`plain${windowed ? " one-line" : ""}`} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classOf(column)}>
                {column.headCell ?? column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={from} columns={columns.length} />
          {rows.slice(from, to).map((row, index) => (
            <tr key={rowKey(row)} aria-rowindex={from + index + 2}>
              {columns.map((column) => (
                <td key={column.key} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Spacer rows={rows.length - to} columns={columns.length} />
        </tbody>
      </table>
    </Scroll>
  );
}

function Spacer({ rows, columns }: { rows: number; columns: number }) {
  if (rows === 0) return null;
  return (
    <tr>
      <td colSpan={columns} className="spacer" style={{ height: rows * ROW_PX }} />
    </tr>
  );
}

const classOf = (column: { number?: boolean; wide?: boolean }) =>
  [column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") || undefined;

type ScrollProps = {
  label: string;
  maxHeight?: boolean | undefined;
  long?: boolean;
  onScroll?: ((event: UIEvent<HTMLElement>) => void) | undefined;
  children: ReactNode;
};
export function Scroll({ label, maxHeight, long, onScroll, children }: ScrollProps) {
  return (
    <section
      className={`scroll${maxHeight ? " limited" : ""}${long ? " long" : ""}`}
      aria-label={label}
      onScroll={onScroll}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {children}
    </section>
  );
}
