import { describe, expect, it } from "vitest";
import { auditExportUrl } from "../src/api/audit";
import { fieldChanges } from "../src/lib/json-diff";

describe("before and after", () => {
  it("shows only what differs where both sides are there", () => {
    const before = { gpus: 4, limits: { borrow: null, lend: 2 }, kinds: ["a"] };
    const after = { gpus: 8, limits: { borrow: null, lend: 2 }, kinds: ["a", "b"] };
    expect(fieldChanges(before, after)).toEqual([
      { path: "gpus", before: "4", after: "8" },
      { path: "kinds", before: '["a"]', after: '["a","b"]' },
    ]);
  });
  it("shows all of what was made or taken away", () => {
    expect(fieldChanges(null, { name: "x", labels: {} })).toEqual([
      { path: "name", before: null, after: "x" },
      { path: "labels", before: null, after: "{}" },
    ]);
    expect(fieldChanges({ name: "x" }, null)).toEqual([{ path: "name", before: "x", after: null }]);
    expect(fieldChanges(null, null)).toEqual([]);
  });
});

describe("the export's address", () => {
  it("has the filter, and a byte order mark for spreadsheets only", () => {
    expect(auditExportUrl({ action: "job.*", team: "a b" }, "csv")).toBe(
      "/api/v1/audit/export?format=csv&bom=true&action=job.*&team=a+b",
    );
    expect(auditExportUrl({}, "jsonl")).toBe("/api/v1/audit/export?format=jsonl");
  });
});
