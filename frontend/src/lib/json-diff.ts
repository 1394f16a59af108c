// Two JSON objects field by field: what an audit event says of before and after.

export type FieldChange = { path: string; before: string | null; after: string | null };

/** Every field that one of them has, flat; the same value on both sides is left out when both are there. */
export function fieldChanges(before: unknown, after: unknown): FieldChange[] {
  const left = flat(before);
  const right = flat(after);
  const both = before != null && after != null;
  return [...new Set([...left.keys(), ...right.keys()])]
    .map((path) => ({ path, before: left.get(path) ?? null, after: right.get(path) ?? null }))
    .filter((one) => !both || one.before !== one.after);
}

function flat(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (value == null && path === "") return into;
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const fields = Object.entries(value);
    if (fields.length === 0 && path) into.set(path, "{}");
    for (const [name, inner] of fields) flat(inner, path ? `${path}.${name}` : name, into);
  } else into.set(path || "·", typeof value === "string" ? value : JSON.stringify(value));
  return into;
}
