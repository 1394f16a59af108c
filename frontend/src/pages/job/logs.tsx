import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, InputNumber, Switch } from "antd";
import { useEffect, useRef, useState } from "react";
import { logDownloadUrl } from "../../api/operations";
import type { Job } from "../../api/views";
import { Nothing, ProblemAlert } from "../../components/feedback";
import { useText } from "../../lib/use-text";
import { useLog } from "./use-log";

/** The end of a member's log, followed while it grows; the whole as a file. */
export function Logs({ job }: { job: Job }) {
  const { t, n } = useText();
  const search = useSearch({ from: "/jobs/$id" });
  const navigate = useNavigate({ from: "/jobs/$id" });
  const run = Number(search.run ?? job.run_number);
  const member = Number(search.member ?? 0);
  const [follow, setFollow] = useState(true);
  const log = useLog(job.id, run, member, follow);
  const box = useRef<HTMLPreElement>(null);
  const size = log.text.length;
  useEffect(() => {
    if (follow && box.current && size >= 0) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, size]);
  if (job.run_number === 0) return <Nothing why={t("logs.not_started")} next={t("job.no_runs_next")} />;
  const choose = (change: { run?: string; member?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      <div className="filters">
        <label>
          {t("logs.run")}{" "}
          <InputNumber
            min={1}
            max={job.run_number}
            value={run}
            onChange={(value) => choose({ run: value ? String(value) : undefined })}
          />
        </label>
        <label>
          {t("field.member")}{" "}
          <InputNumber
            min={0}
            max={Math.max(0, job.max_replicas - 1)}
            value={member}
            onChange={(value) => choose({ member: value ? String(value) : undefined })}
          />
        </label>
        <label>
          <Switch checked={follow} onChange={setFollow} aria-label={t("logs.follow")} /> {t("logs.follow")}
        </label>
        <Button href={logDownloadUrl(job.id, run, member)} download>
          {t("logs.download")}
        </Button>
        <span className="quiet" aria-live="polite">
          {log.complete ? t("logs.complete") : follow ? t("logs.following") : t("logs.paused")}
        </span>
      </div>
      {log.error ? <ProblemAlert error={log.error} /> : null}
      {log.start > 0 && <p className="quiet">{t("logs.tail", { bytes: n(log.start) })}</p>}
      <pre
        ref={box}
        className="log"
        role="log"
        aria-label={t("job.logs")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {log.text || t(log.loading ? "live.loading" : "logs.empty")}
      </pre>
    </>
  );
}
