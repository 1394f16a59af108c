import { Tag } from "antd";
import type { ReactNode } from "react";
import type { Job, JobState, Outcome, QueueState, ReclaimState } from "../api/views";
import { useText } from "../lib/use-text";
import {
  AlertIcon,
  CheckIcon,
  ClockIcon,
  CrossIcon,
  LeaveIcon,
  PauseIcon,
  PlayIcon,
  StartIcon,
  StopIcon,
} from "./icons";

type Tone = "used" | "borrowed" | "lent" | "pending" | "free" | "bad" | "good";

/** A word with its icon and a coloured edge: the colour never speaks alone. */
export function Mark({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }) {
  return (
    <Tag className={`mark tone-${tone}`} variant="outlined">
      {icon}
      {children}
    </Tag>
  );
}

const JOB_MARKS: Record<JobState, [Tone, () => ReactNode]> = {
  queued: ["pending", ClockIcon],
  starting: ["lent", StartIcon],
  running: ["used", PlayIcon],
  leaving: ["bad", LeaveIcon],
  succeeded: ["good", CheckIcon],
  failed: ["bad", CrossIcon],
  cancelled: ["free", StopIcon],
};

/** A job's state as people say it: running on a loan, told to leave, back in line after an eviction … */
export function wordOfJob(
  job: Pick<Job, "state" | "held" | "borrowed_gpus" | "eviction_count" | "run_number" | "leave">,
) {
  if (job.state === "queued" && job.held) return "held";
  if (job.state === "queued" && job.eviction_count > 0) return "requeued";
  if (job.state === "running" && job.leave) return "reclaim_notice";
  if (job.state === "running" && job.borrowed_gpus > 0) return "running_borrowed";
  if (job.state === "leaving" && job.leave?.cause === "reclaim") return "reclaim_notice";
  return job.state;
}

export function JobMark({ job }: { job: Parameters<typeof wordOfJob>[0] }) {
  const { word } = useText();
  const name = wordOfJob(job);
  const [tone, Icon] = JOB_MARKS[job.state];
  if (name === "held")
    return (
      <Mark tone="free" icon={<PauseIcon />}>
        {word("state", name)}
      </Mark>
    );
  const shown = name === "running_borrowed" ? "borrowed" : name === "reclaim_notice" ? "bad" : tone;
  return (
    <Mark tone={shown} icon={name === "reclaim_notice" ? <AlertIcon /> : <Icon />}>
      {word("state", name)}
    </Mark>
  );
}

export function StateMark({ state }: { state: JobState }) {
  const { word } = useText();
  const [tone, Icon] = JOB_MARKS[state];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("state", state)}
    </Mark>
  );
}

const OUTCOME_MARKS: Record<Outcome, [Tone, () => ReactNode]> = {
  leaving: ["borrowed", LeaveIcon],
  requeued: ["lent", ClockIcon],
  cancelled: ["bad", StopIcon],
  ended_itself: ["good", CheckIcon],
  shrunk: ["used", PlayIcon],
  node_lost: ["bad", AlertIcon],
};
export const toneOfOutcome = (outcome: Outcome): Tone => OUTCOME_MARKS[outcome]?.[0] ?? "free";
export function OutcomeMark({ outcome }: { outcome: Outcome }) {
  const { word } = useText();
  const [tone, Icon] = OUTCOME_MARKS[outcome] ?? ["free", ClockIcon];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("outcome", outcome)}
    </Mark>
  );
}

const RECLAIM_MARKS: Record<ReclaimState, [Tone, () => ReactNode]> = {
  waiting: ["borrowed", ClockIcon],
  done: ["good", CheckIcon],
  dropped: ["free", StopIcon],
  timed_out: ["bad", AlertIcon],
};
export function ReclaimMark({ state }: { state: ReclaimState }) {
  const { word } = useText();
  const [tone, Icon] = RECLAIM_MARKS[state] ?? ["free", ClockIcon];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("reclaim_state", state)}
    </Mark>
  );
}

const QUEUE_MARKS: Record<QueueState, [Tone, () => ReactNode]> = {
  open: ["good", CheckIcon],
  held: ["borrowed", PauseIcon],
  draining: ["lent", LeaveIcon],
};
export function QueueMark({ state }: { state: QueueState }) {
  const { word } = useText();
  const [tone, Icon] = QUEUE_MARKS[state] ?? ["free", ClockIcon];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("queue_state", state)}
    </Mark>
  );
}
