import { useState } from "react";
import type { Job } from "../../api/views";
import { JobLink } from "../../components/links";
import { DataTable } from "../../components/table";
import { JobMark } from "../../components/tags";
import { Since } from "../../components/when";
import { useText } from "../../lib/use-text";
import { BulkActions } from "./bulk-actions";

/** Jobs to choose among; only the rows in view are in the page, however many there are. */
export function JobTable({ rows }: { rows: Job[] }) {
  const { t, n, word } = useText();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const picked = rows.filter((job) => chosen.has(job.id));
  const all = rows.length > 0 && picked.length === rows.length;
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const why = (job: Job) => {
    if (job.reason && job.state === "queued") return word("reason", job.reason.code);
    if (job.end_cause && job.finished_at) return word("end_cause", job.end_cause);
    return <span className="quiet">–</span>;
  };
  return (
    <>
      <BulkActions jobs={picked} onDone={() => setChosen(new Set())} />
      <DataTable<Job>
        label={t("nav.jobs")}
        windowed
        rows={rows}
        rowKey={(job) => job.id}
        columns={[
          {
            key: "choose",
            head: t("jobs.choose_all"),
            headCell: (
              <input
                type="checkbox"
                aria-label={t("jobs.choose_all")}
                checked={all}
                onChange={() => setChosen(all ? new Set() : new Set(rows.map((job) => job.id)))}
              />
            ),
            cell: (job) => (
              <input
                type="checkbox"
                aria-label={t("jobs.choose", { job: job.name })}
                checked={chosen.has(job.id)}
                onChange={() => toggle(job.id)}
              />
            ),
          },
          { key: "name", head: t("field.job"), cell: (job) => <JobLink job={job} /> },
          { key: "state", head: t("field.state"), cell: (job) => <JobMark job={job} /> },
          { key: "team", head: t("field.team"), cell: (job) => job.team.name },
          { key: "gpus", head: t("field.gpus"), number: true, cell: (job) => n(job.gpus_total) },
          { key: "reason", head: t("field.reason"), cell: why },
          { key: "kind", head: t("field.kind"), cell: (job) => word("kind", job.kind) },
          { key: "priority", head: t("field.priority"), cell: (job) => word("priority", job.priority_class) },
          { key: "user", head: t("field.user"), cell: (job) => job.user.display_name },
          { key: "submitted", head: t("jobs.age"), cell: (job) => <Since from={job.submitted_at} /> },
        ]}
      />
    </>
  );
}
