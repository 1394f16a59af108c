import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import {
  DELIVERY_STATES,
  type Delivery,
  listDeliveries,
  resendDelivery,
  type DeliveryState as State,
  showDelivery,
  type Webhook,
} from "../../api/identity";
import { ActButton } from "../../components/act-button";
import { ChooseWord } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { CheckIcon, ClockIcon, CrossIcon, StopIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { DataTable, Scroll } from "../../components/table";
import { Mark } from "../../components/tags";
import { Until, When } from "../../components/when";
import { allPages, type Column } from "../../lib/csv";
import { useText } from "../../lib/use-text";

type Props = {
  hook: Webhook;
  state: State | undefined;
  onState: (state: State | undefined) => void;
  onClose: () => void;
};

/** What was sent to one webhook, how each attempt went, and sending it again. */
export function Deliveries({ hook, state, onState, onClose }: Props) {
  const { t, n } = useText();
  const client = useQueryClient();
  const [shown, setShown] = useState<string | null>(null);
  const load = (cursor: string | null | undefined) => listDeliveries(hook.id, state, cursor);
  const again = () => client.invalidateQueries({ queryKey: ["deliveries", hook.id] });
  return (
    <Section
      title={t("webhook.deliveries_of", { name: hook.name })}
      extra={
        <span className="button-row">
          <ChooseWord
            label={t("field.state")}
            group="delivery_state"
            values={DELIVERY_STATES}
            value={state}
            onChange={(next) => onState(next as State | undefined)}
          />
          <CsvButton
            name="reeve-deliveries"
            columns={CSV}
            rows={(onProgress) => allPages(load, onProgress)}
          />
          <Button onClick={onClose}>{t("nodes.close")}</Button>
        </span>
      }
    >
      <PagedTable<Delivery>
        label={t("webhook.deliveries_of", { name: hook.name })}
        queryKey={["deliveries", hook.id, state ?? ""]}
        refetchMs={3_000}
        load={load}
        rowKey={(row) => row.id}
        empty={<Nothing why={t("webhook.no_deliveries")} next={t("webhook.no_deliveries_next")} />}
        columns={[
          { key: "at", head: t("field.time"), cell: (row) => <When at={row.created_at} /> },
          {
            key: "type",
            head: t("webhook.event"),
            cell: (row) => (
              <>
                <code>{row.event_type}</code>
                {row.resend_of && <div className="quiet">{t("webhook.resent")}</div>}
              </>
            ),
          },
          {
            key: "state",
            head: t("field.state"),
            wide: true,
            cell: (row) => (
              <>
                <DeliveryMark state={row.state} />{" "}
                {row.state === "pending" && row.next_attempt_at && <Until to={row.next_attempt_at} />}
                {row.last_error && <div className="quiet">{row.last_error}</div>}
              </>
            ),
          },
          { key: "attempts", head: t("webhook.attempts"), number: true, cell: (row) => n(row.attempts) },
          { key: "status", head: t("webhook.status"), number: true, cell: (row) => row.last_status ?? "–" },
          {
            key: "acts",
            head: t("nodes.actions"),
            cell: (row) => (
              <span className="button-row">
                <Button
                  size="small"
                  aria-pressed={shown === row.id}
                  aria-label={`${t("nodes.details")} ${row.event_type}`}
                  onClick={() => setShown(shown === row.id ? null : row.id)}
                >
                  {t("nodes.details")}
                </Button>
                <ActButton
                  label={t("webhook.resend")}
                  of={row.event_type}
                  danger={false}
                  run={async () => {
                    await resendDelivery(hook.id, row.id);
                    await again();
                  }}
                />
              </span>
            ),
          },
        ]}
      />
      {shown && <Detail key={shown} hook={hook.id} delivery={shown} />}
    </Section>
  );
}

const MARKS = {
  pending: ["pending", ClockIcon],
  delivered: ["good", CheckIcon],
  failed: ["bad", CrossIcon],
  cancelled: ["free", StopIcon],
} as const;
function DeliveryMark({ state }: { state: string }) {
  const { word } = useText();
  const [tone, Icon] = MARKS[state as keyof typeof MARKS] ?? ["free", ClockIcon];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("delivery_state", state)}
    </Mark>
  );
}

function Detail({ hook, delivery }: { hook: string; delivery: string }) {
  const { t, n } = useText();
  const detail = useQuery({
    queryKey: ["deliveries", hook, "one", delivery],
    queryFn: () => showDelivery(hook, delivery),
    refetchInterval: 5_000,
  });
  return (
    <Answer of={detail}>
      {(data) => (
        <>
          <h3>{t("webhook.attempts")}</h3>
          <DataTable
            label={t("webhook.attempts")}
            rows={data.attempt_log}
            rowKey={(row) => String(row.number)}
            columns={[
              { key: "n", head: t("webhook.attempt"), number: true, cell: (row) => n(row.number) },
              { key: "at", head: t("field.time"), cell: (row) => <When at={row.at} /> },
              { key: "status", head: t("webhook.status"), number: true, cell: (row) => row.status ?? "–" },
              {
                key: "took",
                head: t("webhook.took"),
                number: true,
                cell: (row) => t("webhook.ms", { ms: n(row.took_ms) }),
              },
              {
                key: "said",
                head: t("webhook.answered"),
                wide: true,
                cell: (row) => row.error ?? row.response_excerpt ?? "–",
              },
            ]}
          />
          <h3>{t("webhook.body")}</h3>
          <Scroll label={t("webhook.body")} maxHeight>
            <pre className="command">{data.body}</pre>
          </Scroll>
        </>
      )}
    </Answer>
  );
}

const CSV: Column<Delivery>[] = [
  { head: "id", cell: (row) => row.id },
  { head: "message_id", cell: (row) => row.message_id },
  { head: "event_type", cell: (row) => row.event_type },
  { head: "event_position", cell: (row) => row.event_position },
  { head: "state", cell: (row) => row.state },
  { head: "attempts", cell: (row) => row.attempts },
  { head: "last_status", cell: (row) => row.last_status },
  { head: "last_error", cell: (row) => row.last_error },
  { head: "created_at", cell: (row) => row.created_at },
  { head: "delivered_at", cell: (row) => row.delivered_at },
];
