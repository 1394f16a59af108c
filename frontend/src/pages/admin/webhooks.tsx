import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import {
  deleteWebhook,
  editWebhook,
  listWebhooks,
  rotateSecret,
  testWebhook,
  type Webhook,
} from "../../api/identity";
import { ActButton } from "../../components/act-button";
import { ChooseTeam } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { AlertIcon, CheckIcon, StopIcon } from "../../components/icons";
import { Page } from "../../components/page";
import { Secret } from "../../components/secret";
import { DataTable } from "../../components/table";
import { Mark } from "../../components/tags";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { useText } from "../../lib/use-text";
import { AdminMenu } from "./admin-menu";
import { Deliveries } from "./deliveries";
import { WebhookForm } from "./webhook-form";

/** Who else is told of what happens: other programs and chat robots, each with what was delivered. */
export function WebhooksPage() {
  const { t } = useText();
  const search = useSearch({ from: "/admin/webhooks" });
  const navigate = useNavigate({ from: "/admin/webhooks" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const [open, setOpen] = useState<Webhook | "new" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const hooks = useQuery({
    queryKey: ["webhooks", search.team ?? ""],
    queryFn: () => listWebhooks(search.team),
    refetchInterval: 15_000,
  });
  const chosen = hooks.data?.find((hook) => hook.id === search.hook);
  return (
    <Page
      title={t("admin.webhooks")}
      actions={
        <Button type="primary" onClick={() => setOpen("new")}>
          {t("webhook.new")}
        </Button>
      }
    >
      <AdminMenu />
      {open && (
        <WebhookForm
          key={open === "new" ? "new" : open.id}
          hook={open === "new" ? null : open}
          onClose={() => setOpen(null)}
          onSecret={setSecret}
        />
      )}
      {secret && <Secret title={t("webhook.secret")} secret={secret} onClose={() => setSecret(null)} />}
      <div className="filters">
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <CsvButton name="reeve-webhooks" columns={CSV} rows={() => hooks.data ?? []} />
      </div>
      <Answer of={hooks}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing
              why={t(search.team ? "webhook.none_match" : "webhook.none")}
              next={
                search.team ? (
                  <Link to="/admin/webhooks">{t("action.clear_filters")}</Link>
                ) : (
                  t("webhook.none_next")
                )
              }
            />
          ) : (
            <HookTable
              rows={rows}
              chosen={search.hook}
              onEdit={setOpen}
              onSecret={setSecret}
              onShow={(hook) => set({ hook })}
            />
          )
        }
      </Answer>
      {chosen && (
        <Deliveries
          key={chosen.id}
          hook={chosen}
          state={search.state}
          onState={(state) => set({ state })}
          onClose={() => set({ hook: undefined, state: undefined })}
        />
      )}
    </Page>
  );
}

type TableProps = {
  rows: Webhook[];
  chosen: string | undefined;
  onEdit: (hook: Webhook) => void;
  onSecret: (secret: string) => void;
  onShow: (id: string) => void;
};
function HookTable({ rows, chosen, onEdit, onSecret, onShow }: TableProps) {
  const { t, word } = useText();
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: ["webhooks"] });
  return (
    <DataTable
      label={t("admin.webhooks")}
      rows={rows}
      rowKey={(hook) => hook.id}
      columns={[
        {
          key: "name",
          head: t("field.name"),
          cell: (hook) => (
            <>
              <span className="name">{hook.name}</span>
              <div className="quiet">{hook.url}</div>
            </>
          ),
        },
        { key: "kind", head: t("webhook.kind"), cell: (hook) => word("webhook_kind", hook.kind) },
        {
          key: "team",
          head: t("field.team"),
          cell: (hook) => hook.team?.name ?? word("rule_level", "installation"),
        },
        {
          key: "events",
          head: t("webhook.events"),
          cell: (hook) => hook.event_types.join(" ") || t("webhook.all_events"),
        },
        { key: "state", head: t("field.state"), cell: (hook) => <HookMark hook={hook} /> },
        { key: "last", head: t("webhook.last"), cell: (hook) => <When at={hook.last_delivered_at} /> },
        {
          key: "acts",
          head: t("nodes.actions"),
          wide: true,
          cell: (hook) => (
            <span className="button-row">
              <Button
                size="small"
                aria-pressed={chosen === hook.id}
                aria-label={`${t("webhook.deliveries")} ${hook.name}`}
                onClick={() => onShow(hook.id)}
              >
                {t("webhook.deliveries")}
              </Button>
              <ActButton
                label={t("webhook.test")}
                of={hook.name}
                danger={false}
                run={async () => {
                  await testWebhook(hook.id);
                  onShow(hook.id);
                  await client.invalidateQueries({ queryKey: ["deliveries", hook.id] });
                }}
              />
              <Button
                size="small"
                aria-label={`${t("action.change")} ${hook.name}`}
                onClick={() => onEdit(hook)}
              >
                {t("action.change")}
              </Button>
              {hook.kind === "webhook" && (
                <ActButton
                  label={t("webhook.rotate")}
                  of={hook.name}
                  ask={t("webhook.ask_rotate", { name: hook.name })}
                  text={t("webhook.rotate_text")}
                  run={async () => {
                    onSecret((await rotateSecret(hook.id)).secret);
                    await again();
                  }}
                />
              )}
              <ActButton
                label={t(hook.state === "enabled" ? "webhook.disable" : "webhook.enable")}
                of={hook.name}
                danger={false}
                run={async () => {
                  await editWebhook(hook.id, { state: hook.state === "enabled" ? "disabled" : "enabled" });
                  await again();
                }}
              />
              <ActButton
                label={t("action.delete")}
                of={hook.name}
                ask={t("webhook.ask_delete", { name: hook.name })}
                run={async () => {
                  await deleteWebhook(hook.id);
                  await again();
                }}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

function HookMark({ hook }: { hook: Webhook }) {
  const { t, word } = useText();
  if (hook.state === "disabled")
    return (
      <Mark tone="free" icon={<StopIcon />}>
        {word("switch", hook.state)} {hook.disabled_reason && word("webhook_disabled", hook.disabled_reason)}
      </Mark>
    );
  if (hook.failing_since)
    return (
      <Mark tone="bad" icon={<AlertIcon />}>
        {t("webhook.failing")} <When at={hook.failing_since} />
      </Mark>
    );
  return (
    <Mark tone="good" icon={<CheckIcon />}>
      {word("switch", hook.state)}
    </Mark>
  );
}

const CSV: Column<Webhook>[] = [
  { head: "id", cell: (hook) => hook.id },
  { head: "name", cell: (hook) => hook.name },
  { head: "kind", cell: (hook) => hook.kind },
  { head: "team", cell: (hook) => hook.team?.slug },
  { head: "url", cell: (hook) => hook.url },
  { head: "event_types", cell: (hook) => hook.event_types.join(" ") },
  { head: "state", cell: (hook) => hook.state },
  { head: "failing_since", cell: (hook) => hook.failing_since },
  { head: "last_delivered_at", cell: (hook) => hook.last_delivered_at },
];
