/** Which of many rows of one height are in view, with some more on both sides so that scrolling shows no gap. */
export function rowsInView(rows: number, scrollTop: number, viewPx: number, rowPx: number, more = 12) {
  const first = Math.floor(scrollTop / rowPx) - more;
  const last = Math.ceil((scrollTop + viewPx) / rowPx) + more;
  const from = Math.max(0, Math.min(first, rows));
  return { from, to: Math.max(from, Math.min(last, rows)) };
}
