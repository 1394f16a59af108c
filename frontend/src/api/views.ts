// Short names for what the API document says; nothing is said here that the document does not say.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Sentence = Schemas["SentenceView"];
export type TeamRef = Schemas["TeamRef"];
export type JobRef = Schemas["JobRef"];
export type Me = Schemas["MeView"];
export type Overview = Schemas["Overview"];
export type Need = Schemas["Need"];
export type HistoryPoint = Schemas["HistoryPoint"];
export type Pool = Schemas["PoolView"];
export type Team = Schemas["TeamView"];
export type Node = Schemas["NodeView"];
export type Gpu = Schemas["GpuView"];
export type Quota = Schemas["QuotaView"];
export type QuotaUse = Schemas["QuotaUseView"];
export type Queue = Schemas["QueueView"];
export type EditQueue = Schemas["EditQueue"];
export type LinePlace = Schemas["InLineView"];
export type JobSpec = Schemas["SubmitJob"];
export type Job = Schemas["JobView"];
export type JobPage = Schemas["JobPage"];
export type JobCounts = NonNullable<JobPage["counts"]>;
export type JobRules = Schemas["RulesView"];
export type Explain = Schemas["ExplainView"];
export type Run = Schemas["RunView"];
export type TimelineRun = Schemas["TimelineRun"];
export type PlannedStart = Schemas["PlannedStartView"];
export type MaskedJobRef = Schemas["MaskedJobRef"];
export type Member = Schemas["RunMember"];
export type PolicyInForce = Schemas["PolicyView"];
export type WhatIf = Schemas["WhatIfView"];
export type WhatIfJob = Schemas["WhatIfJob"];
export type WhatIfOutcome = WhatIf["submitted"][number];
export type WhatIfChange = Schemas["WhatIfChange"];
export type Event = Schemas["EventView"];
export type Loan = Schemas["LoanView"];
export type LoanMatrix = Schemas["LoanMatrix"];
export type Eviction = Schemas["EvictionView"];
export type Share = Schemas["ShareView"];
export type Reclaim = Schemas["ReclaimView"];
export type ProblemBody = Pick<Schemas["Problem"], "type" | "title" | "status" | "code"> &
  Partial<Omit<Schemas["Problem"], "request_id">> & { request_id?: string | null };

export type Kind = Schemas["Kind"];
export type PriorityClass = Schemas["PriorityClass"];
export type CheckpointMode = Schemas["CheckpointMode"];
export type JobState = Schemas["JobState"];
export type ReasonCode = Schemas["ReasonCode"];
export type NodeState = Schemas["NodeState"];
export type QueueState = Schemas["QueueState"];
export type Outcome = Schemas["EvictionOutcome"];
export type ReclaimState = Schemas["ReclaimState"];
export type NeedKind = Schemas["NeedKind"];
/** The API takes any text; the console has these. */
export const LOCALES = ["en", "zh-CN"] as const;
export type Locale = (typeof LOCALES)[number];

/** All words of an enum in the order in which they are shown: a word too many or too few is a type error. */
export const all =
  <Word extends string>() =>
  <const Given extends readonly Word[]>(
    ...words: Exclude<Word, Given[number]> extends never ? Given : [missing: Exclude<Word, Given[number]>]
  ) =>
    words as Given;

export const KINDS = all<Kind>()("training", "inference", "experiment", "evaluation", "batch");
export const PRIORITY_CLASSES = all<PriorityClass>()("scavenger", "low", "normal", "high", "critical");
export const CHECKPOINT_MODES = all<CheckpointMode>()("none", "on_signal", "periodic");
export const JOB_STATES = all<JobState>()(
  "queued",
  "starting",
  "running",
  "leaving",
  "succeeded",
  "failed",
  "cancelled",
);
export const RECLAIM_STATES = all<ReclaimState>()("waiting", "done", "dropped", "timed_out");
export const REASON_CODES = all<ReasonCode>()(
  "invalid",
  "never_fits",
  "over_cap",
  "waiting_for_jobs",
  "queue_held",
  "awaiting_approval",
  "budget_exhausted",
  "outside_time_window",
  "no_quota",
  "fragmented",
  "topology",
  "waiting_for_evictions",
  "behind_others",
  "search_budget_exhausted",
);
