import type { Job } from "../../api/views";
import type { Column } from "../../lib/csv";

// Heads are the API's names: what reads the file need not know the reader's language.
export const JOB_CSV: Column<Job>[] = [
  { head: "id", cell: (job) => job.id },
  { head: "name", cell: (job) => job.name },
  { head: "team", cell: (job) => job.team.slug },
  { head: "queue", cell: (job) => job.queue.slug },
  { head: "user", cell: (job) => job.user.username },
  { head: "kind", cell: (job) => job.kind },
  { head: "priority_class", cell: (job) => job.priority_class },
  { head: "state", cell: (job) => job.state },
  { head: "held", cell: (job) => job.held },
  { head: "gpus_total", cell: (job) => job.gpus_total },
  { head: "borrowed_gpus", cell: (job) => job.borrowed_gpus },
  { head: "run_number", cell: (job) => job.run_number },
  { head: "eviction_count", cell: (job) => job.eviction_count },
  { head: "failure_count", cell: (job) => job.failure_count },
  { head: "submitted_at", cell: (job) => job.submitted_at },
  { head: "started_at", cell: (job) => job.started_at },
  { head: "finished_at", cell: (job) => job.finished_at },
  { head: "end_cause", cell: (job) => job.end_cause },
  { head: "reason_code", cell: (job) => job.reason?.code },
];
