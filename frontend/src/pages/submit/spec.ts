import type { Job, JobSpec, Kind, PriorityClass } from "../../api/views";
import { formatPairs, joinCommand, parsePairs, splitCommand } from "../../lib/command-line";

/** What the form holds; text areas as text, empty numbers as null. */
export type FormValues = {
  name: string;
  team?: string | undefined;
  queue?: string | undefined;
  kind: Kind;
  priority?: PriorityClass | undefined;
  gpus: number | null;
  replicas: number | null;
  min_replicas?: number | null;
  max_replicas?: number | null;
  gpu_milli?: number | null;
  gpu_memory_mib?: number | null;
  cpu_milli?: number | null;
  memory_mib?: number | null;
  pools?: string[];
  gpu_model?: string;
  require_topology?: string;
  prefer_topology?: string;
  node_labels: string;
  time_limit_minutes?: number | null;
  checkpoint?: "none" | "on_signal" | "periodic" | undefined;
  checkpoint_signal?: string;
  max_failures?: number | null;
  preemptible: boolean;
  evict_others: boolean;
  requeue: boolean;
  nvlink_required: boolean;
  rdma: boolean;
  hold: boolean;
  command: string;
  working_dir?: string;
  env: string;
  labels: string;
};

const OPTIONAL = [
  "queue",
  "priority",
  "min_replicas",
  "max_replicas",
  "gpu_milli",
  "gpu_memory_mib",
  "cpu_milli",
  "memory_mib",
  "gpu_model",
  "require_topology",
  "prefer_topology",
  "checkpoint",
  "checkpoint_signal",
  "max_failures",
  "working_dir",
] as const;

/** The request body: what was left empty is left out, so that the server's defaults hold. */
export function specOf(values: FormValues): JobSpec {
  const spec: Record<string, unknown> = {
    name: values.name.trim(),
    team: values.team,
    kind: values.kind,
    gpus: values.gpus ?? 0,
    replicas: values.replicas ?? 1,
    command: splitCommand(values.command).words,
  };
  for (const name of OPTIONAL) {
    const value = values[name];
    if (value !== undefined && value != null && value !== "") spec[name] = value;
  }
  if (spec.min_replicas !== undefined || spec.max_replicas !== undefined) delete spec.replicas;
  if (values.pools?.length) spec.pools = values.pools;
  if (values.time_limit_minutes) spec.time_limit_secs = Math.round(values.time_limit_minutes * 60);
  if (!values.preemptible) spec.preemptible = false;
  if (!values.evict_others) spec.evict_others = false;
  if (!values.requeue) spec.requeue = false;
  if (values.nvlink_required) spec.nvlink = "required";
  if (values.rdma) spec.rdma = true;
  if (values.hold) spec.hold = true;
  for (const name of ["env", "labels", "node_labels"] as const) {
    const { pairs } = parsePairs(values[name]);
    if (Object.keys(pairs).length) spec[name] = pairs;
  }
  return spec as JobSpec;
}

/** The form for a copy of a job, or an empty one. */
export function valuesOf(job: Job | null): FormValues {
  if (!job) {
    return {
      name: "",
      kind: "training",
      gpus: 1,
      replicas: 1,
      node_labels: "",
      preemptible: true,
      evict_others: true,
      requeue: true,
      nvlink_required: false,
      rdma: false,
      hold: false,
      command: "",
      env: "",
      labels: "",
    };
  }
  const elastic = job.min_replicas !== job.max_replicas;
  return {
    name: job.name,
    team: job.team.slug,
    queue: job.queue.slug,
    kind: job.kind,
    priority: job.priority_class,
    gpus: job.gpus,
    replicas: elastic ? null : job.max_replicas,
    min_replicas: elastic ? job.min_replicas : null,
    max_replicas: elastic ? job.max_replicas : null,
    gpu_milli: job.gpu_milli,
    gpu_memory_mib: job.gpu_memory_mib,
    cpu_milli: job.cpu_milli || null,
    memory_mib: job.memory_mib || null,
    pools: job.pools,
    gpu_model: job.gpu_model ?? "",
    require_topology: job.require_topology ?? "",
    prefer_topology: job.prefer_topology ?? "",
    node_labels: formatPairs(job.node_labels),
    time_limit_minutes: job.time_limit_secs == null ? null : job.time_limit_secs / 60,
    checkpoint: job.checkpoint,
    checkpoint_signal: job.checkpoint_signal,
    max_failures: job.max_failures || null,
    preemptible: job.preemptible,
    evict_others: job.evict_others,
    requeue: job.requeue,
    nvlink_required: job.nvlink === "required",
    rdma: job.rdma,
    hold: false,
    command: joinCommand(job.command),
    working_dir: job.working_dir ?? "",
    env: formatPairs(job.env),
    labels: formatPairs(job.labels),
  };
}

/** The form's field for a field of the request. */
export const fieldForPointer = (name: string): keyof FormValues =>
  (name === "time_limit_secs" ? "time_limit_minutes" : name) as keyof FormValues;
