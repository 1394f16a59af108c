// What an audit event says about a job, picked out of its free-form parts; sentences are made where it is shown.

type Raw = Record<string, unknown>;
const object = (value: unknown): Raw => (value && typeof value === "object" ? (value as Raw) : {});
const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** "2.3 owner recalls a loan" → "2_3": the rule's number names its text. */
export const ruleKey = (rule: string) => (rule.split(" ")[0] ?? "").replaceAll(".", "_");

export type EventFacts = {
  cause: string | null;
  endCause: string | null;
  reason: string | null;
  run: number | null;
  exitCode: number | null;
  signal: string | null;
  members: number | null;
  evictionId: string | null;
  saved: boolean;
  member: number | null;
  memberState: string | null;
};

/** A node's report of one member's state: detail for those who ask for it. */
export const isReport = (event: { action: string }) => event.action === "member.reported";

export function eventFacts(event: { action: string; after?: unknown }): EventFacts {
  const after = object(event.after);
  const evicted = event.action === "job.evicted";
  const report = isReport(event);
  return {
    cause: evicted ? text(after.cause) : null,
    // "evicted" is what a requeued job says of its run: the event's own name says it already.
    endCause: !evicted && after.cause !== "evicted" ? text(after.cause) : null,
    reason: text(after.reason_code),
    run: number(after.run_number),
    exitCode: number(after.exit_code),
    signal: text(after.signal),
    members: Array.isArray(after.members) ? after.members.length : null,
    evictionId: text(after.eviction_id),
    saved: report && after.state === "leaving" && text(after.checkpointed_at) != null,
    member: report ? number(after.member) : null,
    memberState: report ? text(after.state) : null,
  };
}
