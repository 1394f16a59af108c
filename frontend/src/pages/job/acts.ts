import type { JobAct } from "../../api/operations";
import type { Job } from "../../api/views";

const FINAL = ["succeeded", "failed", "cancelled"];
export const isFinal = (job: Pick<Job, "state">) => FINAL.includes(job.state);

/** What may be done to a job in its state; the server has the last word. */
export function actsOn(job: Pick<Job, "state" | "held">): JobAct[] {
  switch (job.state) {
    case "queued":
      return [job.held ? "release" : "hold", "cancel"];
    case "starting":
    case "running":
      return ["requeue", "cancel"];
    case "leaving":
      return ["cancel"];
    default:
      return [];
  }
}
