import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { listQuotas, showLine, showQueue } from "../api/operations";
import type { LinePlace, Queue } from "../api/views";
import { Answer, Nothing } from "../components/feedback";
import { ButtonLink, JobLink } from "../components/links";
import { Facts, Page, Section } from "../components/page";
import { QuotaBar, QuotaLegend } from "../components/quota-bar";
import { DataTable } from "../components/table";
import { QueueMark, StateMark } from "../components/tags";
import { Since } from "../components/when";
import { compareNames } from "../lib/format";
import { useText } from "../lib/use-text";
import { LoanPartners } from "./queue/loan-partners";
import { QueueSwitch } from "./queue/queue-switch";
import { TeamLoanHistory } from "./queue/team-loan-history";

export function QueuePage() {
  const { t } = useText();
  const { id } = useParams({ from: "/queues/$id" });
  const queue = useQuery({ queryKey: ["queue", id], queryFn: () => showQueue(id), refetchInterval: 30_000 });
  return (
    <Page
      title={queue.data?.name ?? t("field.queue")}
      extra={queue.data && <QueueMark state={queue.data.state} />}
      actions={queue.data && <Actions queue={queue.data} />}
    >
      <Answer of={queue}>{(data) => <Body queue={data} />}</Answer>
    </Page>
  );
}

function Actions({ queue }: { queue: Queue }) {
  const { t } = useText();
  return (
    <>
      <QueueSwitch queue={queue} />
      <ButtonLink to="/jobs" search={{ queue: queue.id }}>
        {t("queue.jobs")}
      </ButtonLink>
      <ButtonLink to="/approvals/new" search={{ asks_for: "quota", team: queue.team.slug }}>
        {t("queue.ask_quota")}
      </ButtonLink>
      <ButtonLink to="/jobs/new" search={{ team: queue.team.slug, queue: queue.slug }} primary>
        {t("submit.title")}
      </ButtonLink>
    </>
  );
}

function Body({ queue }: { queue: Queue }) {
  const { t, n, word, locale } = useText();
  const quotas = useQuery({
    queryKey: ["quotas", "team", queue.team.id],
    queryFn: () => listQuotas({ team: queue.team.id }),
    refetchInterval: 30_000,
  });
  const line = useQuery({
    queryKey: ["queue", queue.id, "line"],
    queryFn: () => showLine(queue.id),
    refetchInterval: 30_000,
  });
  const limit = (value: number | null | undefined) => (value == null ? t("queue.unlimited") : n(value));
  return (
    <>
      <Facts
        items={[
          [t("field.team"), queue.team.name],
          [t("queue.order"), word("queue_order", queue.order)],
          [
            t("queue.kinds"),
            queue.allowed_kinds
              ? queue.allowed_kinds.map((kind) => word("kind", kind)).join(t("quota.separator"))
              : t("queue.all_kinds"),
          ],
          [t("queue.max_running_gpus"), limit(queue.max_running_gpus)],
          [t("queue.max_running_jobs"), limit(queue.max_running_jobs)],
          [t("queue.max_running_jobs_per_user"), limit(queue.max_running_jobs_per_user)],
          [t("queue.used"), n(queue.used_gpus)],
          [t("queue.pending"), n(queue.pending_gpus)],
        ]}
      />
      <Section title={t("queue.holds", { team: queue.team.name })} extra={<QuotaLegend />}>
        <Answer of={quotas}>
          {(all) => {
            const own = all
              .filter((quota) => quota.team.id === queue.team.id)
              .sort((a, b) => compareNames(a.pool.slug, b.pool.slug, locale));
            if (own.length === 0)
              return <Nothing why={t("queue.no_quota")} next={t("overview.no_quota_next")} />;
            return (
              <ul className="quota-list">
                {own.map((quota) => (
                  <li key={quota.pool.id}>
                    <div className="quota-name">{quota.pool.slug}</div>
                    <QuotaBar quota={quota} />
                  </li>
                ))}
              </ul>
            );
          }}
        </Answer>
      </Section>
      <Section title={t("queue.line")}>
        <Answer of={line}>{(page) => <Line places={page.items} more={page.next_cursor != null} />}</Answer>
      </Section>
      <LoanPartners team={queue.team} />
      <TeamLoanHistory team={queue.team} />
    </>
  );
}

/** The waiting line in the real order of service: each block as wide as its GPUs; then the same as a table. */
function Line({ places, more }: { places: LinePlace[]; more: boolean }) {
  const { t, n, word } = useText();
  if (places.length === 0) return <Nothing why={t("queue.line_empty")} next={t("queue.line_empty_next")} />;
  const largest = Math.max(...places.map((place) => place.gpus_total), 1);
  return (
    <>
      <ul className="quota-legend" aria-hidden="true">
        <li>
          <span className="block-key used" /> {t("queue.line_running")}
        </li>
        <li>
          <span className="block-key pending" /> {t("queue.line_waiting")}
        </li>
      </ul>
      <ol className="line" aria-label={t("queue.line_label")}>
        {places.map((place) => (
          <li key={place.job.id} style={{ flexBasis: `${7 + (place.gpus_total / largest) * 11}rem` }}>
            <Link
              to="/jobs/$id"
              params={{ id: place.job.id }}
              className={`block ${place.state === "queued" ? "pending" : "used"}`}
            >
              <span className="quiet">{n(place.position)}</span>
              <span className="hidden">
                {t(place.state === "queued" ? "queue.line_waiting" : "queue.line_running")}
              </span>
              <span className="block-name">{place.job.name}</span>
              <strong>{t("unit.gpus", { gpus: n(place.gpus_total) })}</strong>
            </Link>
          </li>
        ))}
      </ol>
      <DataTable
        label={t("queue.line")}
        maxHeight
        rows={places}
        rowKey={(place) => place.job.id}
        columns={[
          { key: "position", head: t("queue.position"), number: true, cell: (place) => n(place.position) },
          { key: "job", head: t("field.job"), cell: (place) => <JobLink job={place.job} /> },
          { key: "state", head: t("field.state"), cell: (place) => <StateMark state={place.state} /> },
          { key: "gpus", head: t("field.gpus"), number: true, cell: (place) => n(place.gpus_total) },
          {
            key: "priority",
            head: t("field.priority"),
            cell: (place) => word("priority", place.priority_class),
          },
          {
            key: "since",
            head: t("field.waiting"),
            cell: (place) =>
              place.state === "queued" ? (
                <Since from={place.submitted_at} />
              ) : (
                <span className="quiet">–</span>
              ),
          },
          {
            key: "reason",
            head: t("field.reason"),
            wide: true,
            cell: (place) =>
              place.reason_code ? word("reason", place.reason_code) : <span className="quiet">–</span>,
          },
        ]}
      />
      {more && <p className="quiet">{t("queue.line_more", { count: places.length })}</p>}
    </>
  );
}
