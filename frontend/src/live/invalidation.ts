// Which cached answers a change on the server makes old.

export type Change = { type: string; id?: string | null; action?: string; team_id?: string | null };
export type Key = readonly string[];

const EVERYTHING: Key[] = [[]];

/** Query keys (prefixes) by the type of what changed. Unknown types make everything old: never show stale. */
export function keysOf(change: Change): Key[] {
  switch (change.type) {
    case "job":
      // A job's leaving shows on the reclaim that told it to go.
      return [
        ["jobs"],
        ["job", ...(change.id ? [change.id] : [])],
        ["queues"],
        ["queue"],
        ["quotas"],
        ["overview"],
        ["reclaims"],
        ["reclaim"],
        ["eviction"],
        ["live-runs"],
        ["planned-starts"],
      ];
    case "run":
    case "member":
      return [["job"], ["jobs"], ["live-runs"]];
    case "loan":
      return [["loans"], ["quotas"], ["overview"], ["history"]];
    case "reclaim":
    case "eviction":
      return [
        ["reclaims"],
        ["reclaim"],
        ["eviction"],
        ["job"],
        ["quotas"],
        ["overview"],
        ["live-runs"],
        ["planned-starts"],
      ];
    case "quota":
      return [["quotas"], ["overview"], ["job"]];
    case "reservation":
      return [["reservations"], ["planned-starts"]];
    case "maintenance_window":
      return [["maintenance-windows"], ["planned-starts"], ["nodes"]];
    case "queue":
      return [["queues"], ["queue"], ["overview"]];
    case "node":
    case "gpu":
    case "pool":
      return [["nodes"], ["pools"], ["overview"], ["history"]];
    case "team":
    case "membership":
    case "user":
      return [["teams"], ["me"], ["quotas"], ["overview"]];
    case "policy":
      return [["policy"], ["policy-versions"], ["policy-effective"], ["job"]];
    case "escalation":
      return [["approvals"], ["escalations"], ["escalation"], ["job"]];
    case "token":
    case "session":
    case "join_token":
      return [];
    default:
      return EVERYTHING;
  }
}

/** The keys of many changes, each once, and none that a shorter one already covers. */
export function keysOfAll(changes: Change[]): Key[] {
  const seen = new Map<string, Key>();
  for (const change of changes) for (const key of keysOf(change)) seen.set(JSON.stringify(key), key);
  const keys = [...seen.values()];
  const covers = (short: Key, long: Key) => short !== long && short.every((part, at) => part === long[at]);
  return keys.filter((key) => !keys.some((other) => covers(other, key)));
}
