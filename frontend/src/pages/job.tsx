import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { showJob } from "../api/operations";
import { Problem } from "../api/problem";
import type { Job } from "../api/views";
import { Answer, Nothing } from "../components/feedback";
import { Facts, Page, Section } from "../components/page";
import { Scroll } from "../components/table";
import { JobMark } from "../components/tags";
import { Until, When } from "../components/when";
import { joinCommand } from "../lib/command-line";
import { formatMib } from "../lib/format";
import { useText } from "../lib/use-text";
import { isFinal } from "./job/acts";
import { GpuUse } from "./job/gpu-use";
import { IdleMark } from "./job/idle-mark";
import { JobActions } from "./job/job-actions";
import { JobEvictions } from "./job/job-evictions";
import { Logs } from "./job/logs";
import { Rules } from "./job/rules";
import { Runs } from "./job/runs";
import { Timeline } from "./job/timeline";
import { Verdict } from "./job/verdict";

export function JobPage() {
  const { t } = useText();
  const { id } = useParams({ from: "/jobs/$id" });
  const job = useQuery({
    queryKey: ["job", id],
    queryFn: () => showJob(id),
    refetchInterval: (query) => (query.state.data && isFinal(query.state.data) ? false : 15_000),
  });
  if (job.error instanceof Problem && job.error.status === 404) {
    return (
      <Page title={t("job.not_found")}>
        <Nothing why={t("job.not_found_why")} next={<Link to="/jobs">{t("nav.jobs")}</Link>} />
      </Page>
    );
  }
  return (
    <Page
      title={job.data?.name ?? t("field.job")}
      extra={job.data && <JobMark job={job.data} />}
      actions={job.data && <JobActions job={job.data} />}
    >
      <Answer of={job}>{(data) => <Body job={data} />}</Answer>
    </Page>
  );
}

function Body({ job }: { job: Job }) {
  const { t } = useText();
  return (
    <>
      {job.state === "queued" ? <Verdict job={job} /> : <Standing job={job} />}
      {job.state === "running" && <IdleMark job={job} />}
      <Section title={t("job.facts")}>
        <JobFacts job={job} />
        <h3>{t("field.command")}</h3>
        <Scroll label={t("field.command")} maxHeight>
          <pre className="command">{joinCommand(job.command)}</pre>
        </Scroll>
      </Section>
      <GpuUse job={job} />
      <JobEvictions job={job} />
      <Rules job={job} />
      <Section title={t("job.runs")}>
        <Runs job={job} />
      </Section>
      <Section title={t("job.logs")}>
        <Logs job={job} />
      </Section>
      <Section title={t("job.timeline")}>
        <Timeline job={job} />
      </Section>
    </>
  );
}

/** Where a job that does not wait stands: running, on a loan, told to leave, or ended and how. */
function Standing({ job }: { job: Job }) {
  const { t, n, word } = useText();
  if (job.leave) {
    return (
      <p className="verdict bad">
        {t("job.leaving", { cause: word("cause", job.leave.cause) })}{" "}
        {job.leave.leave_by && <Until to={job.leave.leave_by} />}{" "}
        {job.leave.eviction_id && (
          <Link to="/evictions/$id" params={{ id: job.leave.eviction_id }}>
            {t("job.why_me")}
          </Link>
        )}
      </p>
    );
  }
  if (isFinal(job)) {
    return (
      <p className={`verdict ${job.state === "failed" ? "bad" : ""}`}>
        {t("job.ended", {
          state: word("state", job.state),
          cause: job.end_cause ? word("end_cause", job.end_cause) : "–",
        })}{" "}
        {job.end_detail}
      </p>
    );
  }
  return (
    <p className="verdict">
      {job.borrowed_gpus > 0
        ? t("job.running_borrowed", { gpus: n(job.borrowed_gpus), all: n(job.gpus_total) })
        : t("job.running_own", { gpus: n(job.gpus_total) })}
    </p>
  );
}

/** The priority that an approved request gives for a while. */
function Raised({ job }: { job: Job }) {
  const { t, word } = useText();
  return (
    <>
      <strong>{word("priority", job.raised_to ?? "")}</strong>{" "}
      {job.raised_until && (
        <>
          {t("approval.ends")} <Until to={job.raised_until} />{" "}
        </>
      )}
      {job.escalation_id && (
        <Link to="/approvals/$id" params={{ id: job.escalation_id }}>
          {t("job.raised_by")}
        </Link>
      )}
    </>
  );
}

function JobFacts({ job }: { job: Job }) {
  const { t, n, word, locale, duration } = useText();
  const yes = (value: boolean) => (value ? t("word.yes") : t("word.no"));
  const pairs = (of: Record<string, string>) =>
    Object.entries(of)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ");
  const elastic = job.min_replicas !== job.max_replicas;
  return (
    <Facts
      items={[
        [t("field.team"), job.team.name],
        [
          t("field.queue"),
          <Link key="queue" to="/queues/$id" params={{ id: job.queue.id }}>
            {job.queue.slug}
          </Link>,
        ],
        [t("field.user"), job.user.display_name],
        [t("field.kind"), word("kind", job.kind)],
        [t("field.priority"), word("priority", job.priority_class)],
        [t("job.raised"), job.raised_to && <Raised key="raised" job={job} />],
        [
          t("job.asks"),
          elastic
            ? t("job.asks_elastic", { gpus: n(job.gpus), min: n(job.min_replicas), max: n(job.max_replicas) })
            : t("job.asks_gang", {
                gpus: n(job.gpus),
                replicas: n(job.max_replicas),
                all: n(job.gpus_total),
              }),
        ],
        [t("submit.gpu_milli"), job.gpu_milli == null ? null : n(job.gpu_milli)],
        [
          t("submit.gpu_memory_mib"),
          job.gpu_memory_mib == null ? null : formatMib(job.gpu_memory_mib, locale),
        ],
        [t("submit.cpu_milli"), job.cpu_milli ? n(job.cpu_milli) : null],
        [t("submit.memory_mib"), job.memory_mib ? formatMib(job.memory_mib, locale) : null],
        [t("submit.pools"), job.pools.join(" ")],
        [t("submit.gpu_model"), job.gpu_model],
        [t("submit.require_topology"), job.require_topology],
        [t("submit.prefer_topology"), job.prefer_topology],
        [t("job.node_labels"), pairs(job.node_labels)],
        [t("submit.time_limit"), job.time_limit_secs == null ? null : duration(job.time_limit_secs)],
        [t("submit.checkpoint"), word("checkpoint", job.checkpoint)],
        [t("job.preemptible"), yes(job.preemptible)],
        [t("job.evict_others"), job.evict_others ? null : yes(false)],
        [t("job.requeue"), job.requeue ? null : yes(false)],
        [t("submit.max_failures"), job.max_failures ? n(job.max_failures) : null],
        [t("submit.nvlink_required"), job.nvlink === "required" ? yes(true) : null],
        [t("submit.rdma"), job.rdma ? yes(true) : null],
        [t("submit.working_dir"), job.working_dir && <code key="dir">{job.working_dir}</code>],
        [t("field.submitted"), <When key="submitted" at={job.submitted_at} />],
        [t("field.started"), job.started_at && <When key="started" at={job.started_at} />],
        [t("field.finished"), job.finished_at && <When key="finished" at={job.finished_at} />],
        [
          t("job.last_checkpoint"),
          job.last_checkpoint_at && <When key="saved" at={job.last_checkpoint_at} />,
        ],
        [t("job.run_number"), n(job.run_number)],
        [t("job.eviction_count"), n(job.eviction_count)],
        [t("job.failure_count"), n(job.failure_count)],
        [t("job.labels"), pairs(job.labels)],
        [t("job.env"), pairs(job.env)],
        [t("field.id"), <code key="id">{job.id}</code>],
      ]}
    />
  );
}
