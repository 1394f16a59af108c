import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { actOnJob, type JobAct } from "../../api/operations";
import type { Job } from "../../api/views";
import { useConfirm } from "../../components/confirm";
import { ProblemAlert } from "../../components/feedback";
import { useText } from "../../lib/use-text";
import { actsOn } from "../job/acts";

type Failed = { job: Job; error: unknown };
const ACTS: JobAct[] = ["hold", "release", "requeue", "cancel"];

/** The same act on many jobs, one call each; those refused stay listed with the reason. */
export function BulkActions({ jobs, onDone }: { jobs: Job[]; onDone: () => void }) {
  const { t, n } = useText();
  const confirm = useConfirm();
  const client = useQueryClient();
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<Failed[]>([]);
  const run = async (act: JobAct) => {
    const able = jobs.filter((job) => actsOn(job).includes(act));
    const refused: Failed[] = [];
    setDone(0);
    for (const job of able) {
      try {
        await actOnJob(job.id, act);
      } catch (error) {
        refused.push({ job, error });
      }
      setDone((before) => (before ?? 0) + 1);
    }
    setDone(null);
    setFailed(refused);
    void client.invalidateQueries({ queryKey: ["jobs"] });
    if (refused.length === 0) onDone();
  };
  const ask = (act: JobAct, count: number) =>
    confirm({
      title: t(`bulk.ask_${act}`, { count }),
      okText: t(`act.${act}`),
      danger: act === "cancel",
      onOk: () => run(act),
    });
  if (jobs.length === 0 && failed.length === 0) return null;
  return (
    <div className="bulk">
      {jobs.length > 0 && (
        <>
          <strong>{t("bulk.chosen", { count: jobs.length })}</strong>
          {ACTS.map((act) => {
            const count = jobs.filter((job) => actsOn(job).includes(act)).length;
            return (
              <Button
                key={act}
                danger={act === "cancel"}
                disabled={count === 0 || done != null}
                onClick={() => ask(act, count)}
              >
                {t(`act.${act}`)} ({n(count)})
              </Button>
            );
          })}
          {done != null && <span>{t("bulk.progress", { done: n(done), all: n(jobs.length) })}</span>}
        </>
      )}
      {failed.map(({ job, error }) => (
        <div key={job.id} className="bulk-failed">
          <strong>{job.name}</strong>
          <ProblemAlert error={error} />
        </div>
      ))}
    </div>
  );
}
