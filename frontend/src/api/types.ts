// The views of the REST API (v1) that the console reads. Ids are UUIDs, times RFC 3339 in UTC, GPUs numbers.

export type Sentence = { en: string; zh: string };
export type TeamRef = { id: string; slug: string; name: string };
export type PoolRef = { id: string; slug: string };
export type UserRef = { id: string; username: string; display_name: string };
export type QueueRef = { id: string; slug: string };
export type NodeRef = { id: string; name: string };
export type JobRef = { id: string; name: string; team: TeamRef };
export type Page<T> = { items: T[]; next_cursor: string | null };

export type Role = "viewer" | "member" | "lead" | "approver";
export type PlatformRole = "admin" | "finance" | "auditor";
export type Locale = "en" | "zh-CN";

export type Me = {
  id: string;
  username: string;
  display_name: string;
  email: string | null;
  locale: Locale | null;
  platform_roles: PlatformRole[];
  memberships: { team: TeamRef; role: Role }[];
};

export type Team = TeamRef & { parent: TeamRef | null; state: "active" | "deleted"; version: number };

export type Pool = {
  id: string;
  slug: string;
  name: string;
  gpu_model: string;
  mode: "normal" | "overcommitted";
  state: "active" | "deleted";
  capacity: {
    gpus: number;
    usable_gpus: number;
    allocated_gpus: number;
    free_gpus: number;
    leaving_gpus: number;
  };
  nodes: { ready: number; cordoned: number; draining: number; lost: number };
  guaranteed_gpus: number;
  pending_jobs: number;
  pending_gpus: number;
};

export type NodeState = "ready" | "cordoned" | "draining" | "lost" | "removed";
export type Gpu = {
  id: string;
  index: number;
  uuid: string;
  model: string;
  memory_mib: number;
  free_milli: number;
  free_memory_mib: number;
  health: "healthy" | "sick" | "missing";
  health_detail: string | null;
  jobs: JobRef[];
};
export type Node = {
  id: string;
  name: string;
  pool: PoolRef;
  state: NodeState;
  state_note: string | null;
  cpu_milli: number;
  memory_mib: number;
  free_cpu_milli: number;
  free_memory_mib: number;
  labels: Record<string, string>;
  agent_version: string | null;
  last_seen_at: string | null;
  version: number;
  gpus: Gpu[];
};

export type QuotaUse = {
  used_gpus: number;
  guaranteed_used_gpus: number;
  borrowed_gpus: number;
  lent_gpus: number;
  pending_gpus: number;
  pending_jobs: number;
  leaving_gpus: number;
  seconds_waiting_below_guarantee: number;
  reclaim_due: boolean;
};
export type Quota = {
  team: TeamRef;
  parent: TeamRef | null;
  pool: PoolRef;
  guaranteed_gpus: number;
  borrow_limit_gpus: number | null;
  lend_limit_gpus: number | null;
  weight: number;
  drain: boolean;
  version: number;
  use: QuotaUse;
};

export type QueueState = "open" | "held" | "draining";
export type Queue = {
  id: string;
  slug: string;
  name: string;
  team: TeamRef;
  order: "strict_fifo" | "fifo_with_backfill";
  state: QueueState;
  allowed_kinds: Kind[] | null;
  max_running_jobs: number | null;
  max_running_jobs_per_user: number | null;
  max_running_gpus: number | null;
  version: number;
  counts: { queued: number; starting: number; running: number; leaving: number };
  used_gpus: number;
  pending_gpus: number;
  oldest_waiting_at: string | null;
};
export type LinePlace = {
  position: number;
  job: JobRef;
  state: JobState;
  gpus_total: number;
  priority_class: PriorityClass;
  submitted_at: string;
  reason_code: ReasonCode | null;
};

export const KINDS = ["training", "inference", "experiment", "evaluation", "batch"] as const;
export type Kind = (typeof KINDS)[number];
export const PRIORITY_CLASSES = ["scavenger", "low", "normal", "high", "critical"] as const;
export type PriorityClass = (typeof PRIORITY_CLASSES)[number];
export const JOB_STATES = [
  "queued",
  "starting",
  "running",
  "leaving",
  "succeeded",
  "failed",
  "cancelled",
] as const;
export type JobState = (typeof JOB_STATES)[number];
export const REASON_CODES = [
  "invalid",
  "never_fits",
  "over_cap",
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
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];
export const CAUSES = [
  "reclaim",
  "preemption",
  "borrow_preemption",
  "rebalance",
  "idle",
  "drain",
  "quota_lowered",
  "operator",
] as const;
export type Cause = (typeof CAUSES)[number];

export type JobSpec = {
  name: string;
  team: string;
  queue?: string;
  kind?: Kind;
  priority?: PriorityClass;
  gpus?: number;
  gpu_milli?: number;
  gpu_memory_mib?: number;
  cpu_milli?: number;
  memory_mib?: number;
  replicas?: number;
  min_replicas?: number;
  max_replicas?: number;
  pools?: string[];
  gpu_model?: string;
  node_labels?: Record<string, string>;
  require_topology?: string;
  prefer_topology?: string;
  rdma?: boolean;
  time_limit_secs?: number;
  preemptible?: boolean;
  evict_others?: boolean;
  requeue?: boolean;
  checkpoint?: "none" | "on_signal" | "periodic";
  checkpoint_signal?: string;
  max_failures?: number;
  command: string[];
  env?: Record<string, string>;
  working_dir?: string;
  labels?: Record<string, string>;
  hold?: boolean;
};

export type Job = {
  id: string;
  name: string;
  team: TeamRef;
  queue: QueueRef;
  user: UserRef;
  kind: Kind;
  priority_class: PriorityClass;
  state: JobState;
  held: boolean;
  borrowed_gpus: number;
  gpus: number;
  gpu_milli: number | null;
  gpu_memory_mib: number | null;
  cpu_milli: number;
  memory_mib: number;
  replicas: number;
  min_replicas: number;
  max_replicas: number;
  gpus_total: number;
  /** Slugs, in the job's order; empty = any. */
  pools: string[];
  pool: string | null;
  gpu_model: string | null;
  node_labels: Record<string, string>;
  require_topology: string | null;
  prefer_topology: string | null;
  rdma: boolean;
  time_limit_secs: number | null;
  preemptible: boolean;
  evict_others: boolean;
  requeue: boolean;
  checkpoint: "none" | "on_signal" | "periodic";
  checkpoint_signal: string;
  max_failures: number;
  command: string[];
  env: Record<string, string>;
  working_dir: string | null;
  labels: Record<string, string>;
  run_number: number;
  failure_count: number;
  eviction_count: number;
  last_checkpoint_at: string | null;
  submitted_at: string;
  started_at: string | null;
  finished_at: string | null;
  end_cause: string | null;
  end_detail: string | null;
  reason: { code: ReasonCode; since: string | null } | null;
  leave: { cause: Cause; leave_by: string | null; eviction_id: string | null } | null;
  version: number;
};
export type JobCounts = Partial<Record<JobState, number>>;
export type JobPage = Page<Job> & { counts?: JobCounts | null };

export type Obstacle = {
  code: ReasonCode;
  detail: string | null;
  numbers: Record<string, number>;
  sentence: Sentence;
};
export type Explain = {
  job: JobRef;
  state: JobState;
  verdict: Obstacle | null;
  others: Obstacle[];
  help: { action: string; sentence: Sentence } | null;
  position: number | null;
  evidence: {
    node: NodeRef;
    pool: PoolRef;
    free_gpus: number;
    asks_gpus: number;
    blocked_by: string | null;
  }[];
  evictions_awaited: { job: JobRef; leave_by: string }[];
  as_of: string | null;
};

export type Member = {
  member: number;
  node: NodeRef;
  gpu_indices: number[];
  gpu_milli: number;
  state: "assigned" | "starting" | "running" | "leaving" | "ended";
  pid: number | null;
  started_at: string | null;
  ended_at: string | null;
  checkpointed_at: string | null;
  exit_code: number | null;
  signal: string | null;
  end_detail: string | null;
};
export type RunState =
  | "starting"
  | "running"
  | "leaving"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "evicted"
  | "lost";
export type Run = {
  number: number;
  state: RunState;
  pool: PoolRef | null;
  resume: boolean;
  placed_at: string;
  started_at: string | null;
  ended_at: string | null;
  exit_code: number | null;
  signal: string | null;
  end_detail: string | null;
  leave_cause: Cause | null;
  leave_by: string | null;
  members: Member[];
};

export type Event = {
  position: number;
  id: string;
  occurred_at: string;
  actor: { type: string; id: string | null; name: string };
  action: string;
  subject: { type: string; id: string | null };
  team: TeamRef | null;
  request_id: string | null;
  rule: string | null;
  allowed: boolean;
  before: unknown;
  after: unknown;
  detail: unknown;
};

export type Loan = {
  id: string;
  pool: PoolRef;
  borrower: TeamRef;
  lender: TeamRef | null;
  gpus: number;
  started_at: string;
  ended_at: string | null;
};
export type LoanMatrix = {
  pool: PoolRef;
  as_of: string;
  cells: { lender: TeamRef | null; borrower: TeamRef; gpus: number }[];
};

export type Outcome = "leaving" | "requeued" | "cancelled" | "ended_itself" | "shrunk" | "node_lost";
export type Share = { team: TeamRef; used_gpus: number; guaranteed_gpus: number };
export type Eviction = {
  id: string;
  reclaim_id: string;
  job: JobRef;
  run_number: number;
  team: TeamRef;
  members: number[];
  surplus_only: boolean;
  gpus: number;
  cause: Cause;
  outcome: Outcome;
  notified_at: string;
  leave_by: string;
  checkpointed_at: string | null;
  vacated_at: string | null;
  why: {
    rule: string;
    sentence: Sentence;
    evictor_job: JobRef | null;
    evictor_team: TeamRef | null;
    evictor_priority: number | null;
    victim_priority: number | null;
    tier: number;
    lost_gpu_secs: number;
    candidates: number;
    runner_up: { job: JobRef | null; decided_by: string } | null;
  };
  shares_before: Share[];
  shares_after: Share[];
};
export const RECLAIM_STATES = ["waiting", "done", "dropped", "timed_out"] as const;
export type ReclaimState = (typeof RECLAIM_STATES)[number];
export type Reclaim = {
  id: string;
  pool: PoolRef;
  evictor_job: JobRef | null;
  evictor_team: TeamRef | null;
  state: ReclaimState;
  end_reason: string | null;
  created_at: string;
  expires_at: string;
  ended_at: string | null;
  gpus: number;
  evictions: Eviction[];
};

export type NeedsMe = { type: string; text_key: string; params: Record<string, unknown>; link: string };
export type Overview = {
  as_of: string;
  pools: Pool[];
  teams: Quota[];
  needs_me: NeedsMe[];
  jobs: { queued: number; starting: number; running: number; leaving: number };
  evictions_last_day: number;
  scheduler: { last_tick_at: string | null };
};
export type HistoryPoint = {
  at: string;
  own_gpus: number;
  borrowed_gpus: number;
  idle_gpus: number;
  down_gpus: number;
};

export type ProblemBody = {
  type: string;
  title: string;
  status: number;
  detail?: string | null;
  instance?: string | null;
  code: string;
  params?: Record<string, unknown>;
  errors?: { pointer: string; code: string; detail: string }[];
  request_id?: string | null;
};
