import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type AuditEvent, showAuditEvent } from "../../api/audit";
import { Problem } from "../../api/problem";
import { Answer, Nothing } from "../../components/feedback";
import { ButtonLink } from "../../components/links";
import { Facts, Page, Section } from "../../components/page";
import { Scroll } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { Changes } from "./changes";
import { OutcomeOf } from "./outcome-of";

/** One event, under an address that stays. */
export function AuditEventPage() {
  const { t, n } = useText();
  const { position } = useParams({ from: "/audit/$position" });
  const at = Number(position);
  const event = useQuery({
    queryKey: ["audit", "event", position],
    queryFn: () => showAuditEvent(at),
    enabled: Number.isSafeInteger(at) && at > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const missing = !Number.isSafeInteger(at) || (event.error instanceof Problem && event.error.status === 404);
  return (
    <Page
      title={Number.isSafeInteger(at) ? t("audit.event", { position: n(at) }) : t("audit.no_event")}
      extra={event.data && <OutcomeOf event={event.data} />}
      actions={
        <>
          {at > 1 && (
            <ButtonLink to="/audit/$position" params={{ position: String(at - 1) }}>
              {t("audit.previous")}
            </ButtonLink>
          )}
          <ButtonLink to="/audit/$position" params={{ position: String(at + 1) }}>
            {t("audit.next")}
          </ButtonLink>
        </>
      }
    >
      {missing ? (
        <Nothing why={t("audit.no_event_why")} next={<Link to="/audit">{t("nav.audit")}</Link>} />
      ) : (
        <Answer of={event}>{(data) => <Body event={data} />}</Answer>
      )}
    </Page>
  );
}

function Body({ event }: { event: AuditEvent }) {
  const { t } = useText();
  return (
    <>
      <Section title={event.action}>
        <Facts
          items={[
            [t("field.time"), <When key="at" at={event.occurred_at} />],
            [t("audit.sealed"), <When key="sealed" at={event.sealed_at} />],
            [
              t("audit.actor"),
              <Link key="actor" to="/audit" search={{ actor: event.actor.id ?? event.actor.name }}>
                {`${event.actor.name} (${event.actor.type})`}
              </Link>,
            ],
            [t("field.team"), event.team?.name],
            [
              t("audit.subject"),
              event.subject.id ? (
                <Link
                  key="subject"
                  to="/audit"
                  search={{ subject_type: event.subject.type, subject_id: event.subject.id }}
                >
                  {`${event.subject.type} ${event.subject.id}`}
                </Link>
              ) : (
                event.subject.type
              ),
            ],
            [t("eviction.rule"), event.rule],
            [
              t("audit.request_id"),
              event.request_id && (
                <Link key="request" to="/audit" search={{ request_id: event.request_id }}>
                  {event.request_id}
                </Link>
              ),
            ],
            [t("audit.hash"), <code key="hash">{event.hash}</code>],
          ]}
        />
      </Section>
      <Section title={t("audit.changes")}>
        <Changes event={event} />
      </Section>
      {event.detail && (
        <Section title={t("audit.detail")}>
          <Scroll label={t("audit.detail")} maxHeight>
            <pre className="command">{JSON.stringify(event.detail, null, 2)}</pre>
          </Scroll>
        </Section>
      )}
    </>
  );
}
