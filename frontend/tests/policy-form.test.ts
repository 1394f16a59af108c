import { describe, expect, it } from "vitest";
import {
  countOwn,
  type Doc,
  onlyInText,
  ownPlaces,
  rulesAt,
  withField,
  withPart,
  withRule,
} from "../src/lib/policy-form";

const doc: Doc = {
  reclaim: "any",
  backfill: { mode: "on", planned_jobs: 4 },
  kinds: { batch: { default_priority: "low", grace_secs: 120 }, training: { grace_secs: 300 } },
  team_rules: { research: { batch: { grace_secs: 300 } } },
  approvals: { rules: [] },
};
const team = { level: "team", slug: "research" } as const;

describe("the policy as a form", () => {
  it("leaves in place what it does not know, and names it", () => {
    expect(onlyInText(doc)).toEqual(["approvals"]);
    expect(withField(doc, "reclaim", "off")).toEqual({ ...doc, reclaim: "off" });
  });
  it("changes one part only", () => {
    const changed = withPart(doc, "backfill", "planned_jobs", 6);
    expect(changed.backfill).toEqual({ mode: "on", planned_jobs: 6 });
    expect(doc.backfill).toEqual({ mode: "on", planned_jobs: 4 });
  });
  it("sets the installation's rule of a kind beside its others", () => {
    const changed = withRule(doc, { level: "installation" }, "batch", "grace_secs", 60);
    expect(changed.kinds).toEqual({
      batch: { default_priority: "low", grace_secs: 60 },
      training: { grace_secs: 300 },
    });
  });
  it("keeps null for a window that is lifted, and leaves out what is inherited again", () => {
    const lifted = withRule(doc, team, "batch", "time_window", null);
    expect(rulesAt(lifted, team, "batch")).toEqual({ grace_secs: 300, time_window: null });
    const inherited = withRule(lifted, team, "batch", "time_window", undefined);
    expect(rulesAt(inherited, team, "batch")).toEqual({ grace_secs: 300 });
  });
  it("drops a place that says nothing of its own any more", () => {
    const none = withRule(doc, team, "batch", "grace_secs", undefined);
    expect(none.team_rules).toBeUndefined();
    expect(ownPlaces(none)).toEqual([]);
  });
  it("knows who has rules of their own, and how many", () => {
    const both = withRule(doc, { level: "queue", slug: "urgent" }, "training", "ceiling", "high");
    expect(ownPlaces(both)).toEqual([team, { level: "queue", slug: "urgent" }]);
    expect(countOwn(both, team)).toBe(1);
  });
});
