// Filters live in the address: plain `?state=queued&state=running&team=vision`, readable and shareable.

export type Search = Record<string, string | string[]>;

export function parseSearch(text: string): Search {
  const found: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name];
    found[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return found;
}

export function stringifySearch(search: Record<string, unknown>): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value == null || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) out.append(name, String(one));
  }
  const text = out.toString();
  return text && `?${text}`;
}

export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

export function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

/** The known values among those given; undefined for none, so that the address stays short. */
export function someOf<Value extends string>(values: readonly Value[], value: unknown): Value[] | undefined {
  const given = Array.isArray(value) ? value : [value];
  const known = values.filter((one) => given.includes(one));
  return known.length ? known : undefined;
}
