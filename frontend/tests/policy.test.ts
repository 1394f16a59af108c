import { describe, expect, it } from "vitest";
import { lineDiff, shortDiff } from "../src/lib/line-diff";
import { asDocument, parsePolicy, textOf } from "../src/lib/policy-text";

const said = (before: string, after: string) =>
  lineDiff(before, after).map((line) => `${{ same: " ", out: "-", in: "+" }[line.kind]}${line.text}`);

describe("the difference of two texts", () => {
  it("keeps the longest common part, and takes out before it puts in", () => {
    expect(said("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
    expect(said("a", "a\nb")).toEqual([" a", "+b"]);
    expect(said("a\nb\nc\nd", "b\nd")).toEqual(["-a", " b", "-c", " d"]);
  });
  it("is short: only what differs with some lines around it", () => {
    const before = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const after = before.with(10, "changed");
    const short = shortDiff(lineDiff(before.join("\n"), after.join("\n")), 1);
    expect(short.map((line) => line?.text ?? "…")).toEqual([
      "…",
      "line 9",
      "line 10",
      "changed",
      "line 11",
      "…",
    ]);
    expect(shortDiff(lineDiff("a\nb", "a\nb"))).toEqual([]);
  });
  it("puts both texts together again", () => {
    const before = textOf({ a: [1, 2], b: { c: true }, d: null });
    const after = textOf({ a: [2, 1], b: {}, e: "x" });
    const lines = lineDiff(before, after);
    const of = (kind: string) =>
      lines
        .filter((line) => line.kind !== kind)
        .map((line) => line.text)
        .join("\n");
    expect(of("in")).toBe(before);
    expect(of("out")).toBe(after);
  });
});

describe("the policy as text", () => {
  it("is read, or says why it cannot be", () => {
    expect(parsePolicy('{"reclaim": "any"}')).toEqual({ document: { reclaim: "any" } });
    for (const text of ["", "[]", "{,}", '"x"', '{"a": 1,\n\n}']) {
      const parsed = parsePolicy(text);
      expect("message" in parsed && parsed.message.length > 0, text).toBe(true);
    }
  });
  it("is refused on its own paths", () => {
    const refused = asDocument({
      type: "t",
      title: "t",
      status: 422,
      code: "invalid_body",
      detail: "/changes/0/policy/kinds/batch/grace_secs: 0 to 2592000",
      errors: [{ pointer: "/changes/0/policy/kinds/batch/grace_secs", code: "out_of_range", detail: "…" }],
    });
    expect(refused.errors?.[0]?.pointer).toBe("/kinds/batch/grace_secs");
    expect(refused.detail).toBe("/kinds/batch/grace_secs: 0 to 2592000");
  });
});
