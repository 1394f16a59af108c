// CSV for people: UTF-8 with a byte order mark (Excel), CRLF, cells that a spreadsheet would run made plain.

export type Cell = string | number | boolean | null | undefined;
export type Column<Row> = { head: string; cell: (row: Row) => Cell };

const RUNS = /^[=+\-@\t\r]/;

export function csvCell(value: Cell): string {
  if (value == null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const plain = RUNS.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function csvOf<Row>(columns: Column<Row>[], rows: Row[]): string {
  const lines = [columns.map((column) => csvCell(column.head)).join(",")];
  for (const row of rows) lines.push(columns.map((column) => csvCell(column.cell(row))).join(","));
  return `\uFEFF${lines.join("\r\n")}\r\n`;
}

/** Every row that the filter matches, page after page. */
export async function allPages<Row>(
  load: (cursor: string | null) => Promise<{ items: Row[]; next_cursor?: string | null }>,
  onProgress: (rows: number) => void = () => {},
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Row[]; next_cursor?: string | null } = await load(cursor);
    for (const row of page.items) rows.push(row);
    onProgress(rows.length);
    cursor = page.next_cursor ?? null;
  } while (cursor);
  return rows;
}

export function download(name: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
