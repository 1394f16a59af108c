import type { TimelineRun } from "../../api/views";
import type { Column } from "../../lib/csv";

const nodesOf = (run: TimelineRun) => [...new Set(run.members.map((member) => member.node.name))].join(" ");
export const gpusOf = (run: TimelineRun) =>
  run.members.reduce((all, member) => all + member.gpu_milli, 0) / 1000;

/** Field names as the API has them: programs read this too. */
export const RUN_CSV: Column<TimelineRun>[] = [
  { head: "run_id", cell: (run) => run.id },
  { head: "job_id", cell: (run) => run.job.id },
  { head: "job", cell: (run) => run.job.name },
  { head: "run_number", cell: (run) => run.number },
  { head: "team", cell: (run) => run.job.team.slug },
  { head: "kind", cell: (run) => run.kind },
  { head: "priority_class", cell: (run) => run.priority_class },
  { head: "state", cell: (run) => run.state },
  { head: "pool", cell: (run) => run.pool?.slug },
  { head: "gpus", cell: gpusOf },
  { head: "borrowed_gpus", cell: (run) => run.borrowed_gpus },
  { head: "nodes", cell: nodesOf },
  { head: "placed_at", cell: (run) => run.placed_at },
  { head: "started_at", cell: (run) => run.started_at },
  { head: "ended_at", cell: (run) => run.ended_at },
  { head: "eviction_cause", cell: (run) => run.evictions.at(-1)?.cause },
];
