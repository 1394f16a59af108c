import { useQuery } from "@tanstack/react-query";
import { explainJob } from "../../api/operations";
import type { Job } from "../../api/views";
import { AlertIcon } from "../../components/icons";
import { Snooze } from "../../components/snooze";
import { useText } from "../../lib/use-text";

/** That a running job's GPUs compute nothing: the evidence, what follows, and putting it off. */
export function IdleMark({ job }: { job: Job }) {
  const { sentence } = useText();
  const explain = useQuery({
    queryKey: ["job", job.id, "explain"],
    queryFn: () => explainJob(job.id),
    refetchInterval: 15_000,
  });
  const idle = explain.data?.idle;
  if (!idle) return null;
  return (
    <p className="verdict bad">
      <AlertIcon /> {sentence(idle.sentence)} <Snooze job={job} idle={idle} />
    </p>
  );
}
