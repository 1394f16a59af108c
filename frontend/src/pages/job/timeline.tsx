import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { listJobEvents } from "../../api/operations";
import type { Event, Job } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** What happened to the job, when, by whom and by which rule, as the audit log has it. */
export function Timeline({ job }: { job: Job }) {
  const { t } = useText();
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
            <ol className="timeline">
              {items.map((event) => (
                <li key={event.id}>
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
  const { t, word } = useText();
  return (
    <>
      <strong>{word("event", event.action.replaceAll(".", "_"))}</strong>{" "}
      <span className="quiet">
        {event.actor.type === "system" ? t("event.by_system") : t("event.by", { who: event.actor.name })}
        {event.rule && ` · ${t("event.rule", { rule: event.rule })}`}
        {` · #${event.position}`}
      </span>
    </>
  );
}
