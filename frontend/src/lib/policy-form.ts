// The policy document as a form reads and changes it. What the form does not know stays in the document untouched.
import { KINDS, type Kind, type PriorityClass } from "../api/views";

export type Doc = Record<string, unknown>;
export type TimeWindow = { days?: string[]; from: string; until: string; zone?: string };
/** What one place says for one kind; in a team or queue everything may be left out, which is "inherited". */
export type KindRules = {
  default_priority?: PriorityClass;
  ceiling?: PriorityClass;
  min_runtime_secs?: number;
  grace_secs?: number;
  may_borrow?: boolean;
  time_window?: TimeWindow | null;
};
export type Place = { level: "installation" } | { level: "team" | "queue"; slug: string };

/** The priority classes and their numbers, highest first. */
export const CLASS_VALUES: Record<PriorityClass, number> = {
  critical: 900,
  high: 700,
  normal: 500,
  low: 300,
  scavenger: 100,
};
export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export const RECLAIMS = ["any", "lower_priority", "off"] as const;
export const PREEMPTIONS = ["lower", "lower_or_newer_equal", "off"] as const;
export const SURPLUS_ORDERS = ["bands", "share_only"] as const;
export const PLACEMENTS = ["best_fit", "mix"] as const;

const FORM_KEYS = [
  "reclaim",
  "preempt_within_team",
  "borrow_preemption_max_priority",
  "rebalance",
  "consolidation",
  "surplus_order",
  "placement",
  "backfill",
  "nomination_timeout_secs",
  "max_evictions_per_job_per_day",
  "kinds",
  "team_rules",
  "queue_rules",
];
/** Parts of the document that only the text shows. */
export const onlyInText = (doc: Doc) => Object.keys(doc).filter((key) => !FORM_KEYS.includes(key));

const object = (value: unknown): Doc =>
  value && typeof value === "object" && !Array.isArray(value) ? (value as Doc) : {};

/** Sets a field, or leaves it out. */
export function withField(doc: Doc, name: string, value: unknown): Doc {
  const { [name]: _, ...rest } = doc;
  return value === undefined ? rest : { ...doc, [name]: value };
}

/** Sets a field of a part such as `backfill`. */
export const withPart = (doc: Doc, part: string, name: string, value: unknown): Doc =>
  withField(doc, part, withField(object(doc[part]), name, value));

export const partOf = (doc: Doc, part: string): Doc => object(doc[part]);

const groupOf = (place: Place) =>
  place.level === "installation" ? "kinds" : place.level === "team" ? "team_rules" : "queue_rules";

export function rulesAt(doc: Doc, place: Place, kind: Kind): KindRules {
  const group = object(doc[groupOf(place)]);
  const kinds = place.level === "installation" ? group : object(group[place.slug]);
  return object(kinds[kind]) as KindRules;
}

/** Sets one rule of a kind at a place; what a place no longer says at all leaves the document. */
export function withRule<Name extends keyof KindRules>(
  doc: Doc,
  place: Place,
  kind: Kind,
  name: Name,
  value: KindRules[Name] | undefined,
): Doc {
  const rules = withField(rulesAt(doc, place, kind) as Doc, name, value);
  const name_ = groupOf(place);
  const group = object(doc[name_]);
  if (place.level === "installation") return withField(doc, name_, { ...group, [kind]: rules });
  const kinds = withField(object(group[place.slug]), kind, emptyAsNone(rules));
  const places = withField(group, place.slug, emptyAsNone(kinds));
  return withField(doc, name_, emptyAsNone(places));
}

const emptyAsNone = (value: Doc) => (Object.keys(value).length === 0 ? undefined : value);

/** Teams and queues that have rules of their own. */
export function ownPlaces(doc: Doc): Exclude<Place, { level: "installation" }>[] {
  const at = (level: "team" | "queue") =>
    Object.keys(object(doc[`${level}_rules`]))
      .sort()
      .map((slug) => ({ level, slug }));
  return [...at("team"), ...at("queue")];
}

/** How many rules a place has of its own. */
export const countOwn = (doc: Doc, place: Place) =>
  KINDS.reduce((all, kind) => all + Object.keys(rulesAt(doc, place, kind)).length, 0);

export const NEW_WINDOW: TimeWindow = { from: "22:00", until: "08:00", zone: "UTC" };
