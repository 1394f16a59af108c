import { describe, expect, it } from "vitest";
import type { JobSpec, WhatIf } from "../src/api/views";
import { asSubmission, questionOf, touchesOthers } from "../src/lib/what-if";

const none = { total: 0, items: [] };
const quiet: WhatIf = {
  as_of: "2026-11-30T12:00:00Z",
  at_rest: true,
  submitted: [],
  starts: none,
  lost_starts: none,
  evictions: none,
  spared: none,
  loans: none,
  reasons: none,
};
const start = (imagined: boolean) => ({
  job: { id: null, name: "x", team: null, imagined },
  gpus: 1,
  pool: null,
  nodes: [],
  at_once: true,
});

describe("what would happen now", () => {
  it("can be asked before the job has a name and a command, and changes nothing that is there", () => {
    const spec = { name: "", team: "vision", command: [] as string[], gpus: 4 } as unknown as JobSpec;
    expect(questionOf(spec)).toEqual({ name: "what-if", team: "vision", command: ["true"], gpus: 4 });
    const whole = { ...spec, name: "train", command: ["python", "a.py"] };
    expect(questionOf(whole)).toEqual(whole);
  });
  it("is refused on the fields of the form", () => {
    const refused = asSubmission({
      type: "t",
      title: "t",
      status: 422,
      code: "invalid_body",
      detail: "/changes/0/submit/gpus: 1 to 8",
      errors: [
        { pointer: "/changes/0/submit/gpus", code: "out_of_range", detail: "1 to 8" },
        { pointer: "/changes/0/submit/env/A", code: "x", detail: "y" },
        { pointer: "/changes/0/submit", code: "x", detail: "y" },
      ],
    });
    expect(refused.detail).toBe("/gpus: 1 to 8");
    expect(refused.errors?.map((one) => one.pointer)).toEqual(["/gpus", "/env/A", "/"]);
  });
  it("tells whether anybody else is touched", () => {
    expect(touchesOthers(quiet)).toBe(false);
    expect(touchesOthers({ ...quiet, starts: { total: 1, items: [start(true)] } })).toBe(false);
    expect(touchesOthers({ ...quiet, starts: { total: 2, items: [start(true), start(false)] } })).toBe(true);
    expect(touchesOthers({ ...quiet, lost_starts: { total: 1, items: [start(false)] } })).toBe(true);
    const waits = { job: { id: null, name: null, team: null, imagined: true }, before: null, after: null };
    expect(touchesOthers({ ...quiet, reasons: { total: 1, items: [waits] } })).toBe(false);
  });
});
