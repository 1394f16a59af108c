import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Checkbox } from "antd";
import { useState } from "react";
import { listJobEvents } from "../../api/operations";
import type { Event, Job } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { When } from "../../components/when";
import { eventFacts, isReport } from "../../lib/event-words";
import { useText } from "../../lib/use-text";

/** What happened to the job, when, by whom and by which rule, as the audit log has it. */
export function Timeline({ job }: { job: Job }) {
  const { t } = useText();
  const [reports, setReports] = useState(false);
  const events = useInfiniteQuery({
    queryKey: ["job", job.id, "events"],
    queryFn: ({ pageParam }) => listJobEvents(job.id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  return (
    <Answer of={events}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        if (items.length === 0) return <Nothing why={t("job.no_events")} next={t("job.no_events_next")} />;
        return (
          <>
            <Checkbox checked={reports} onChange={(event) => setReports(event.target.checked)}>
              {t("event.show_reports")}
            </Checkbox>
            <ol className="timeline">
              {items
                .filter((event) => reports || !isReport(event))
                .map((event) => (
                  <li key={event.id} className={isReport(event) ? "report" : undefined}>
                    <When at={event.occurred_at} /> <Line event={event} />
                  </li>
                ))}
            </ol>
            {events.hasNextPage && (
              <Button onClick={() => void events.fetchNextPage()} loading={events.isFetchingNextPage}>
                {t("action.more")}
              </Button>
            )}
          </>
        );
      }}
    </Answer>
  );
}

function Line({ event }: { event: Event }) {
  const { t, n, word, ruleWord } = useText();
  const facts = eventFacts(event);
  const title =
    facts.memberState != null
      ? t("event.member_reported", {
          member: n(facts.member ?? 0),
          state: word("member_state", facts.memberState),
        })
      : facts.reason != null && event.action === "job.reason_changed"
        ? t("event.reason", { reason: word("reason", facts.reason) })
        : word("event", event.action.replaceAll(".", "_"));
  const details = [
    facts.cause && word("cause", facts.cause),
    facts.endCause && event.action !== "job.succeeded" && word("end_cause", facts.endCause),
    facts.run != null && t("event.run", { number: n(facts.run) }),
    facts.members != null && t("event.members", { count: facts.members }),
    facts.exitCode != null && t("event.exit_code", { code: facts.exitCode }),
    facts.signal && t("job.signal", { signal: facts.signal }),
    facts.saved && t("event.saved"),
    event.rule && ruleWord(event.rule),
    event.actor.type === "system" ? t("event.by_system") : t("event.by", { who: event.actor.name }),
    `#${event.position}`,
  ].filter(Boolean);
  return (
    <>
      <strong>{title}</strong> <span className="quiet">{details.join(" · ")}</span>{" "}
      {facts.evictionId && (
        <Link to="/evictions/$id" params={{ id: facts.evictionId }}>
          {t("event.why")}
        </Link>
      )}
    </>
  );
}
