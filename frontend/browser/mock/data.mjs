// A made-up installation for looking at pages: three teams of one department, two pools, a reclaim under way.
const uuid = (kind, n) =>
  `${kind.toString(16).padStart(8, "0")}-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
const ago = (secs) => new Date(Date.now() - secs * 1000).toISOString();
const ref = ({ id, slug, name }) => ({ id, slug, name });

export const teams = [
  ["research", "Research", null],
  ["vision", "Vision 视觉", 0],
  ["language", "Language 语言", 0],
  ["robotics", "Robotics 机器人", 0],
  ["interns", "Interns 实习生", 0],
].map(([slug, name], n) => ({ id: uuid(1, n), slug, name, state: "active", version: 1, parent: null }));
for (const team of teams.slice(1)) team.parent = ref(teams[0]);
const [research, vision, language, robotics, interns] = teams;

const poolRefs = [
  { id: uuid(2, 0), slug: "a100-80g" },
  { id: uuid(2, 1), slug: "h100-80g" },
];
const capacity = (gpus, allocated, leaving) => ({
  gpus,
  usable_gpus: gpus,
  allocated_gpus: allocated,
  free_gpus: gpus - allocated,
  leaving_gpus: leaving,
});
export const pools = [
  {
    ...poolRefs[0],
    name: "A100 80 GB",
    gpu_model: "NVIDIA A100-SXM4-80GB",
    mode: "normal",
    state: "active",
    version: 1,
    capacity: capacity(64, 60, 4),
    nodes: { ready: 8, cordoned: 0, draining: 0, lost: 0 },
    guaranteed_gpus: 64,
    pending_jobs: 7,
    pending_gpus: 41,
  },
  {
    ...poolRefs[1],
    name: "H100 80 GB",
    gpu_model: "NVIDIA H100-SXM5-80GB",
    mode: "overcommitted",
    state: "active",
    version: 1,
    capacity: capacity(16, 5, 0),
    nodes: { ready: 1, cordoned: 1, draining: 0, lost: 1 },
    guaranteed_gpus: 24,
    pending_jobs: 1,
    pending_gpus: 16,
  },
];

const quota = (team, pool, guaranteed, limit, use) => ({
  team: ref(team),
  parent: team.parent,
  pool: poolRefs[pool],
  guaranteed_gpus: guaranteed,
  borrow_limit_gpus: limit,
  lend_limit_gpus: null,
  weight: 1,
  drain: false,
  version: 3,
  use: {
    used_gpus: (use.own ?? 0) + (use.borrowed ?? 0),
    guaranteed_used_gpus: use.own ?? 0,
    borrowed_gpus: use.borrowed ?? 0,
    lent_gpus: use.lent ?? 0,
    pending_gpus: use.pending ?? 0,
    pending_jobs: use.jobs ?? 0,
    leaving_gpus: use.leaving ?? 0,
    seconds_waiting_below_guarantee: use.starved ?? 0,
    reclaim_due: use.due ?? false,
  },
});
export const quotas = [
  quota(research, 0, 64, 0, { own: 60, pending: 41, jobs: 7, leaving: 4 }),
  quota(vision, 0, 24, 16, { own: 24, borrowed: 12, pending: 9, jobs: 3, leaving: 4 }),
  quota(language, 0, 24, null, { own: 8, lent: 12, pending: 8, jobs: 1, starved: 187, due: true }),
  quota(robotics, 0, 16, 4, { own: 10.5, borrowed: 0, lent: 1.5 }),
  quota(interns, 0, 0, 2, { borrowed: 4, pending: 24, jobs: 3 }),
  quota(vision, 1, 8, 8, { own: 5 }),
  quota(language, 1, 16, 500, { pending: 16, jobs: 1 }),
];

const queue = (n, team, slug, name, state, counts) => ({
  id: uuid(3, n),
  slug,
  name,
  team: ref(team),
  order: n % 2 ? "strict_fifo" : "fifo_with_backfill",
  state,
  allowed_kinds: n === 3 ? ["batch", "evaluation"] : null,
  max_running_jobs: null,
  max_running_jobs_per_user: n === 3 ? 2 : null,
  max_running_gpus: n === 3 ? 4 : null,
  version: 1,
  counts,
  used_gpus: counts.running * 4,
  pending_gpus: counts.queued * 4,
  oldest_waiting_at: counts.queued ? ago(1800 + n * 60) : null,
});
export const queues = [
  queue(0, vision, "vision", "Vision", "open", { queued: 3, starting: 1, running: 8, leaving: 1 }),
  queue(1, language, "language-train", "Language training 语言训练", "open", {
    queued: 2,
    starting: 0,
    running: 2,
    leaving: 0,
  }),
  queue(2, robotics, "robotics", "Robotics", "held", { queued: 0, starting: 0, running: 3, leaving: 0 }),
  queue(3, interns, "interns", "Interns", "draining", { queued: 3, starting: 0, running: 2, leaving: 0 }),
];

export const me = {
  id: uuid(4, 0),
  username: "lin",
  display_name: "Lin Wei 林薇",
  email: null,
  locale: null,
  platform_roles: ["admin"],
  memberships: [
    { team: ref(vision), role: "lead" },
    { team: ref(language), role: "member" },
  ],
  auth: { type: "session", scopes: ["read", "write", "admin"] },
};
const users = ["Lin Wei 林薇", "Ada Park", "张伟"].map((display_name, n) => ({
  id: uuid(4, n),
  username: ["lin", "ada", "zhangwei"][n],
  display_name,
}));

const NAMES = [
  "resnet50-imagenet",
  "视觉预训练-第三轮",
  "eval-coco",
  "llama-sft",
  '=HYPERLINK("x")',
  "a-rather-long-name-for-a-job-that-sweeps-learning-rates-0.0001-0.0003-0.001",
];
const STATES = [
  "queued",
  "running",
  "running",
  "leaving",
  "succeeded",
  "failed",
  "queued",
  "running",
  "cancelled",
  "starting",
];
const REASONS = ["waiting_for_evictions", "fragmented", "no_quota", "behind_others"];
const KINDS = ["training", "inference", "experiment", "evaluation", "batch"];
export const jobs = Array.from({ length: 340 }, (_, n) => {
  const state = STATES[n % STATES.length];
  const team = teams[1 + (n % 4)];
  const final = ["succeeded", "failed", "cancelled"].includes(state);
  const started = state === "queued" ? null : ago(3600 + n * 97);
  const replicas = 1 + (n % 3);
  const gpus = [1, 2, 4, 8][n % 4];
  return {
    id: uuid(5, n),
    name: `${NAMES[n % NAMES.length]}${n >= NAMES.length ? `-${n}` : ""}`,
    team: ref(team),
    queue: { id: queues[n % 4].id, slug: queues[n % 4].slug },
    user: users[n % 3],
    kind: KINDS[n % 5],
    priority_class: ["normal", "high", "scavenger", "low"][n % 4],
    state,
    held: n === 20,
    borrowed_gpus: state === "running" && n % 3 === 0 ? gpus : 0,
    gpus,
    gpu_milli: n === 7 ? 500 : null,
    gpu_memory_mib: n === 7 ? 40960 : null,
    cpu_milli: 8000,
    memory_mib: 65536,
    replicas,
    min_replicas: n === 7 ? 1 : replicas,
    max_replicas: replicas,
    gpus_total: gpus * replicas,
    pools: n % 2 ? ["a100-80g"] : [],
    gpu_model: null,
    node_labels: {},
    require_topology: null,
    prefer_topology: n % 5 === 0 ? "rack" : null,
    rdma: false,
    time_limit_secs: n % 2 ? 86_400 : null,
    preemptible: true,
    evict_others: true,
    requeue: true,
    checkpoint: "on_signal",
    checkpoint_signal: "USR1",
    max_failures: 0,
    command: ["python", "train.py", "--config", "configs/base model.yaml"],
    env: { WANDB_MODE: "offline" },
    working_dir: null,
    labels: { project: "atlas" },
    run_number: state === "queued" && n % 3 ? 0 : 1 + (n % 2),
    failure_count: state === "failed" ? 1 : 0,
    eviction_count: n % 6 === 0 ? 1 : 0,
    last_checkpoint_at: started && n % 2 ? ago(240) : null,
    submitted_at: ago(5400 + n * 131),
    started_at: started,
    finished_at: final ? ago(60 + n) : null,
    end_cause: final ? (state === "cancelled" ? "cancelled" : "exit_code") : null,
    end_detail: state === "failed" ? "exit code 2: No such file or directory: configs/base model.yaml" : null,
    reason: state === "queued" ? { code: REASONS[n % 4], since: ago(400) } : null,
    leave:
      state === "leaving"
        ? { cause: "reclaim", leave_by: new Date(Date.now() + 90_000).toISOString(), eviction_id: uuid(8, 0) }
        : null,
    version: 4,
  };
});
const jobRef = (job) => ({ id: job.id, name: job.name, team: job.team });

export const nodes = Array.from({ length: 11 }, (_, n) => ({
  id: uuid(6, n),
  name: `gpu-${String(n + 1).padStart(2, "0")}`,
  pool: poolRefs[n < 8 ? 0 : 1],
  state: n === 9 ? "cordoned" : n === 10 ? "lost" : "ready",
  state_note: n === 9 ? "fan replaced on Friday" : null,
  cpu_milli: 128_000,
  memory_mib: 1_048_576,
  free_cpu_milli: 64_000,
  free_memory_mib: 512_000,
  labels: { rack: `r${n % 3}` },
  topology: { rack: `r${n % 3}` },
  rdma: true,
  agent_version: "0.1.0",
  last_seen_at: ago(n === 10 ? 900 : 4),
  lease_until: null,
  clock_skew_ms: 2,
  version: 1,
  gpus: Array.from({ length: 8 }, (__, g) => {
    const used = n < 7 || (n === 7 && g < 4) || (n === 8 && g < 5);
    return {
      id: uuid(7, n * 8 + g),
      index: g,
      uuid: `GPU-${n}-${g}`,
      model: pools[n < 8 ? 0 : 1].gpu_model,
      memory_mib: 81_920,
      free_milli: used ? (n === 3 && g === 5 ? 500 : 0) : 1000,
      free_memory_mib: used ? 0 : 81_920,
      health: n === 8 && g === 7 ? "sick" : "healthy",
      health_detail: n === 8 && g === 7 ? "XID 79: GPU has fallen off the bus" : null,
      jobs: used ? [jobRef(jobs[1 + n])] : [],
    };
  }),
}));

const shares = (before) => [
  { team: ref(vision), used_gpus: before ? 36 : 32, guaranteed_gpus: 24 },
  { team: ref(language), used_gpus: before ? 8 : 16, guaranteed_gpus: 24 },
  { team: ref(interns), used_gpus: before ? 4 : 0, guaranteed_gpus: 0 },
];
const eviction = (n, reclaim, victim, evictor, outcome) => {
  const open = outcome === "leaving";
  const told = open ? ago(30) : ago(4000 + n * 50);
  return {
    id: uuid(8, n),
    reclaim_id: reclaim,
    job: jobRef(victim),
    run_number: 1,
    team: victim.team,
    members: [0],
    surplus_only: n === 1,
    gpus: victim.gpus_total,
    cause: "reclaim",
    outcome,
    notified_at: told,
    leave_by: new Date(Date.parse(told) + 120_000).toISOString(),
    checkpointed_at: n % 2 ? null : new Date(Date.parse(told) + 21_000).toISOString(),
    vacated_at: open ? null : new Date(Date.parse(told) + (n === 3 ? 131_000 : 34_000)).toISOString(),
    why: {
      rule: "owner_reclaims_guarantee",
      sentence: {
        en: `${evictor.team.name} is inside its guarantee and takes back what ${victim.team.name} borrowed; ${victim.name} can resume and loses the least work.`,
        zh: `${evictor.team.name} 在保障之内，收回 ${victim.team.name} 的借用；${victim.name} 可恢复，损失的工作最少。`,
      },
      evictor_job: jobRef(evictor),
      evictor_team: evictor.team,
      evictor_priority: 500,
      victim_priority: 300,
      tier: 2,
      lost_gpu_secs: 840 + n,
      candidates: 5,
      runner_up: { job: jobRef(jobs[17]), decided_by: "lost_work" },
    },
    shares_before: shares(true),
    shares_after: shares(false),
  };
};
const reclaim = (n, state, evictor, evictions) => ({
  id: uuid(9, n),
  pool: poolRefs[0],
  evictor_job: jobRef(evictor),
  evictor_team: evictor.team,
  state,
  end_reason: state === "done" ? "started" : null,
  created_at: state === "waiting" ? ago(30) : ago(4000 + n * 500),
  expires_at: new Date(Date.now() + 400_000).toISOString(),
  ended_at: state === "waiting" ? null : ago(3900),
  gpus: evictions.reduce((all, one) => all + one.gpus, 0),
  evictions,
});
export const reclaims = [
  reclaim(0, "waiting", jobs[6], [
    eviction(0, uuid(9, 0), jobs[3], jobs[6], "leaving"),
    eviction(1, uuid(9, 0), jobs[13], jobs[6], "requeued"),
  ]),
  reclaim(1, "done", jobs[21], [
    eviction(2, uuid(9, 1), jobs[0], jobs[21], "requeued"),
    eviction(3, uuid(9, 1), jobs[4], jobs[21], "ended_itself"),
    eviction(4, uuid(9, 1), jobs[8], jobs[21], "cancelled"),
  ]),
  reclaim(2, "timed_out", jobs[25], [eviction(5, uuid(9, 2), jobs[9], jobs[25], "node_lost")]),
];

export const loans = [
  [vision, language, 10, 7200, null],
  [vision, robotics, 1.5, 4000, null],
  [interns, language, 2, 900, null],
  [interns, null, 2, 900, null],
  [vision, language, 6, 200_000, 90_000],
  [language, vision, 4, 400_000, 300_000],
].map(([borrower, lender, gpus, from, to], n) => ({
  id: uuid(10, n),
  pool: poolRefs[0],
  borrower: ref(borrower),
  lender: lender && ref(lender),
  gpus,
  started_at: ago(from),
  ended_at: to && ago(to),
}));

export const history = Array.from({ length: 97 }, (_, n) => {
  const own = Math.round(38 + 8 * Math.sin(n / 9));
  const borrowed = Math.round(8 + 7 * Math.sin(n / 13 + 1));
  const down = n > 40 && n < 52 ? 8 : 0;
  return {
    at: ago((96 - n) * 900),
    own_gpus: own,
    borrowed_gpus: borrowed,
    idle_gpus: 64 - own - borrowed - down,
    down_gpus: down,
  };
});

export const explainOf = (job) => ({
  job: jobRef(job),
  state: job.state,
  verdict: {
    code: job.reason?.code ?? "behind_others",
    detail: null,
    numbers: { asks: job.gpus_total, free: 4, best_node: 4 },
    sentence: {
      en: `${job.team.name} is inside its guarantee: 2 jobs are leaving to make room for these ${job.gpus_total} GPUs.`,
      zh: `${job.team.name} 在保障之内：2 个作业正在离开，为这 ${job.gpus_total} 卡腾出空间。`,
    },
  },
  others: [
    {
      code: "fragmented",
      detail: null,
      numbers: { free: 4, best_node: 4 },
      sentence: {
        en: "4 GPUs are free, at most 4 on one node; it asks for 8 on one.",
        zh: "空闲 4 卡，单节点最多 4 卡；它要求单节点 8 卡。",
      },
    },
  ],
  help: {
    action: "wait_for_leaving",
    sentence: {
      en: "Nothing to do: those leaving have 1 min 30 s left.",
      zh: "无需操作：离开者还有 1 分 30 秒。",
    },
  },
  position: 1,
  evidence: nodes.slice(0, 9).map((node, n) => ({
    node: { id: node.id, name: node.name },
    pool: node.pool,
    free_gpus: n === 7 ? 4 : 0,
    asks_gpus: job.gpus,
    blocked_by: n === 7 ? null : "gpus",
  })),
  evictions_awaited: [{ job: jobRef(jobs[3]), leave_by: new Date(Date.now() + 90_000).toISOString() }],
  as_of: ago(2),
});

export const runsOf = (job) =>
  Array.from({ length: job.run_number }, (_, n) => {
    const last = n + 1 === job.run_number && job.started_at && !job.finished_at;
    return {
      number: n + 1,
      state: last ? "running" : "evicted",
      pool: poolRefs[0],
      resume: n > 0,
      placed_at: ago(9000 - n * 4000),
      started_at: ago(8990 - n * 4000),
      ended_at: last ? null : ago(6000),
      exit_code: null,
      signal: null,
      end_detail: null,
      leave_cause: last ? null : "reclaim",
      leave_by: null,
      members: Array.from({ length: job.max_replicas }, (__, m) => ({
        member: m,
        node: { id: nodes[m].id, name: nodes[m].name },
        gpu_indices: [0, 1, 2, 3].slice(0, job.gpus),
        gpu_milli: job.gpus * 1000,
        state: last ? "running" : "ended",
        pid: 4000 + m,
        started_at: ago(8990),
        ended_at: null,
        checkpointed_at: last ? null : ago(6010),
        exit_code: last ? null : 143,
        signal: last ? null : "TERM",
        end_detail: null,
      })),
    };
  });

export const eventsOf = (job) =>
  ["job.submitted", "job.placed", "run.started", "eviction.notified", "run.ended", "job.requeued"].map(
    (action, n) => ({
      position: 81_200 + n,
      id: uuid(11, n),
      occurred_at: ago(9000 - n * 500),
      actor:
        n === 0 ? { type: "user", id: me.id, name: "lin" } : { type: "system", id: null, name: "scheduler" },
      action,
      subject: { type: "job", id: job.id },
      team: job.team,
      request_id: null,
      rule: n === 3 ? "owner_reclaims_guarantee" : null,
      allowed: true,
      before: null,
      after: null,
      detail: null,
      hash: "",
    }),
  );

export const overview = () => ({
  as_of: ago(0),
  pools,
  teams: quotas,
  needs_me: [
    {
      type: "reclaim_due",
      text_key: "reclaim_due",
      params: { team: language.name, gpus: 8 },
      link: `/reclaims/${reclaims[0].id}`,
    },
  ],
  jobs: { queued: 68, starting: 34, running: 102, leaving: 34 },
  evictions_last_day: 6,
  scheduler: { last_tick_at: ago(1) },
});
export { ago, jobRef };
