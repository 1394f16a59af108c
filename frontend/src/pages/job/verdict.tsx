import { useQuery } from "@tanstack/react-query";
import { explainJob } from "../../api/operations";
import type { Explain, Job } from "../../api/views";
import { Answer } from "../../components/feedback";
import { ClockIcon } from "../../components/icons";
import { ButtonLink, JobLink } from "../../components/links";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { Until, When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { Dependencies } from "./dependencies";
import { Evidence } from "./evidence";

/** Why the job waits: one sentence, what would help, the other obstacles, and what each node has. */
export function Verdict({ job }: { job: Job }) {
  const { t } = useText();
  const explain = useQuery({
    queryKey: ["job", job.id, "explain"],
    queryFn: () => explainJob(job.id),
    refetchInterval: 5_000,
  });
  return (
    <Section title={t("verdict.title")} className="verdict-section">
      <Answer of={explain}>{(data) => <Body job={job} explain={data} />}</Answer>
    </Section>
  );
}

function Body({ job, explain }: { job: Job; explain: Explain }) {
  const { t, n, sentence, word } = useText();
  if (!explain.verdict) return <p className="verdict">{t("verdict.not_judged")}</p>;
  return (
    <>
      <p className="verdict">
        <ClockIcon /> {sentence(explain.verdict.sentence)}
      </p>
      {explain.help && explain.help.action !== "wait" && (
        <p className="help-line">
          <strong>{t("verdict.help")}</strong> {sentence(explain.help.sentence)}{" "}
          <NextStep job={job} action={explain.help.action} />
        </p>
      )}
      {explain.expected_start && (
        <p className="help-line">
          <strong>{t("verdict.expected_start")}</strong> {sentence(explain.expected_start.sentence)}
        </p>
      )}
      <p className="quiet">
        {word("reason", explain.verdict.code)}
        {explain.position != null && ` · ${t("verdict.position", { position: n(explain.position) })}`} ·{" "}
        {t("verdict.as_of")} <When at={explain.as_of} short />
      </p>
      {explain.others.length > 0 && (
        <>
          <h3>{t("verdict.others")}</h3>
          <ul>
            {explain.others.map((other) => (
              <li key={other.code + other.detail}>{sentence(other.sentence)}</li>
            ))}
          </ul>
        </>
      )}
      {explain.verdict.code === "waiting_for_jobs" ? (
        <Dependencies job={job.id} />
      ) : (
        <>
          <h3>{t("evidence.title")}</h3>
          <Evidence explain={explain} />
        </>
      )}
      {explain.evictions_awaited.length > 0 && (
        <>
          <h3>{t("verdict.awaited")}</h3>
          <ul>
            {explain.evictions_awaited.map((one) => (
              <li key={one.job.id}>
                <JobLink job={one.job} withTeam /> <Until to={one.leave_by} />
              </li>
            ))}
          </ul>
        </>
      )}
      {explain.evidence.length > 0 && explain.verdict.code !== "waiting_for_jobs" && (
        <>
          <h3>{t("verdict.evidence")}</h3>
          <DataTable
            label={t("verdict.evidence")}
            maxHeight
            rows={explain.evidence}
            rowKey={(row) => row.node.id}
            columns={[
              { key: "node", head: t("field.node"), cell: (row) => row.node.name },
              { key: "pool", head: t("field.pool"), cell: (row) => row.pool.slug },
              { key: "asks", head: t("verdict.needed"), number: true, cell: (row) => n(row.asks_gpus) },
              { key: "free", head: t("verdict.free"), number: true, cell: (row) => n(row.free_gpus) },
              {
                key: "blocked",
                head: t("verdict.blocked_by"),
                wide: true,
                cell: (row) => (row.blocked_by ? word("blocked_by", row.blocked_by) : t("verdict.fits")),
              },
            ]}
          />
        </>
      )}
    </>
  );
}

/** The page where the suggested step is taken. */
function NextStep({ job, action }: { job: Job; action: string }) {
  const { t } = useText();
  switch (action) {
    case "ask_for_fewer_gpus":
    case "ask_for_fewer_replicas":
    case "accept_pool":
      return (
        <ButtonLink to="/jobs/new" search={{ from: job.id }}>
          {t("verdict.step_clone")}
        </ButtonLink>
      );
    case "raise_quota":
      return (
        <ButtonLink to="/approvals/new" search={{ asks_for: "quota", team: job.team.slug }}>
          {t("queue.ask_quota")}
        </ButtonLink>
      );
    case "open_queue":
      return (
        <ButtonLink to="/queues/$id" params={{ id: job.queue.id }}>
          {t("verdict.step_queue")}
        </ButtonLink>
      );
    case "wait_for_own_jobs":
      return (
        <ButtonLink to="/jobs" search={{ team: job.team.slug, state: ["running", "starting", "leaving"] }}>
          {t("verdict.step_own_jobs")}
        </ButtonLink>
      );
    case "wait_for_leaving":
      return (
        <ButtonLink to="/reclaims" search={{ team: job.team.slug, state: "waiting" }}>
          {t("verdict.step_reclaims")}
        </ButtonLink>
      );
    default:
      return null;
  }
}
