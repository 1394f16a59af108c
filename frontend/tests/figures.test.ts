import { describe, expect, it } from "vitest";
import en from "../src/i18n/en.json";
import { figuresOf } from "../src/lib/figures";

describe("figures of an explanation", () => {
  it("have their unit from the end of their name, GPUs without one", () => {
    expect(figuresOf({ wait_secs: 90, free_milli: 2500, replicas: 4, asks: 8 })).toEqual([
      { name: "asks", value: 8, unit: "gpus" },
      { name: "replicas", value: 4, unit: "count" },
      { name: "free", value: 2.5, unit: "gpus" },
      { name: "wait", value: 90, unit: "secs" },
    ]);
  });
  it("stand in the order in which people compare: what is asked for, then what there is", () => {
    const names = figuresOf({ used: 1, to_borrow: 1, guaranteed: 1, must_borrow: 1, asks: 1, zebra: 1 });
    expect(names.map((one) => one.name)).toEqual([
      "asks",
      "must_borrow",
      "used",
      "guaranteed",
      "to_borrow",
      "zebra",
    ]);
  });
  it("have words for every name that the planner gives", () => {
    const given = [
      "asks",
      "free",
      "best_node",
      "replicas",
      "replicas_that_fit",
      "replicas_in_best_place",
      "held",
      "used",
      "guaranteed",
      "cap",
      "to_borrow",
      "must_borrow",
      "used_jobs",
      "cap_jobs",
      "ahead",
      "wait_secs",
      "planned_in_secs",
    ];
    const words = Object.keys(en.figure);
    for (const { name } of figuresOf(Object.fromEntries(given.map((name) => [name, 1]))))
      expect(words, name).toContain(name);
  });
});
