// What differs between two texts, line by line: the longest common part stays, the rest is taken out or put in.

export type DiffLine = { kind: "same" | "out" | "in"; text: string };

export function lineDiff(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  // common[i][j]: the longest common part of what follows line i and line j.
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = common[i];
    if (!row) continue;
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "out", text: a[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "in", text: b[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}

/** Only what differs, with some lines around it; `null` stands for those left out. */
export function shortDiff(lines: DiffLine[], around = 2): (DiffLine | null)[] {
  const keep = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind === "same") return;
    for (let near = at - around; near <= at + around; near += 1) keep.add(near);
  });
  const short: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (keep.has(at)) short.push(line);
    else if (short.at(-1) !== null) short.push(null);
  });
  return keep.size === 0 ? [] : short;
}
