import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { actOnJob, type JobAct } from "../../api/operations";
import type { Job } from "../../api/views";
import { useConfirm } from "../../components/confirm";
import { ProblemAlert } from "../../components/feedback";
import { ButtonLink } from "../../components/links";
import { useText } from "../../lib/use-text";
import { actsOn, isFinal } from "./acts";

/** What can be done now. What takes something away is asked back, saying what it takes. */
export function JobActions({ job }: { job: Job }) {
  const { t } = useText();
  const confirm = useConfirm();
  const client = useQueryClient();
  const [busy, setBusy] = useState<JobAct | null>(null);
  const [error, setError] = useState<unknown>(null);
  const run = async (act: JobAct) => {
    setBusy(act);
    setError(null);
    try {
      client.setQueryData(["job", job.id], await actOnJob(job.id, act));
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(null);
      void client.invalidateQueries({ queryKey: ["job", job.id] });
      void client.invalidateQueries({ queryKey: ["jobs"] });
    }
  };
  const start = (act: JobAct) => {
    if (act === "hold" || act === "release") return void run(act);
    confirm({
      title: t(`act.ask_${act}`, { job: job.name }),
      content: job.state === "queued" ? t("act.queued_text") : t(`act.${act}_text`),
      okText: t(`act.${act}`),
      danger: act === "cancel",
      onOk: () => run(act),
    });
  };
  return (
    <>
      {actsOn(job).map((act) => (
        <Button key={act} danger={act === "cancel"} loading={busy === act} onClick={() => start(act)}>
          {t(`act.${act}`)}
        </Button>
      ))}
      {!isFinal(job) && (
        <>
          <ButtonLink to="/approvals/new" search={{ asks_for: "priority", job: job.id }}>
            {t("act.ask_priority")}
          </ButtonLink>
          {job.preemptible && (
            <ButtonLink to="/approvals/new" search={{ asks_for: "never_evict", job: job.id }}>
              {t("act.ask_never_evict")}
            </ButtonLink>
          )}
        </>
      )}
      <ButtonLink to="/jobs/new" search={{ from: job.id }}>
        {t("act.clone")}
      </ButtonLink>
      {error ? <ProblemAlert error={error} /> : null}
    </>
  );
}
