import { useQueryClient } from "@tanstack/react-query";
import { Form, Input, Select } from "antd";
import { createWebhook, editWebhook, WEBHOOK_KINDS, type Webhook } from "../../api/identity";
import { useTeams } from "../../components/choose";
import { FormPanel } from "../../components/form-panel";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";

const EVENTS = ["job.*", "reclaim.*", "escalation.*", "budget.*", "quota.*", "node.*", "policy.*"];
const LANGUAGES = ["en", "zh-CN"] as const;
type Values = {
  name: string;
  kind: Webhook["kind"];
  url: string;
  team?: string;
  secret?: string;
  event_types: string[];
  locale: Webhook["locale"];
};
type Props = { hook: Webhook | null; onClose: () => void; onSecret: (secret: string) => void };

/** Where to, of what, in which language. The signing secret of a webhook is shown once, when it is made. */
export function WebhookForm({ hook, onClose, onSecret }: Props) {
  const { t, word } = useText();
  const client = useQueryClient();
  const me = useMe();
  const teams = useTeams();
  const [form] = Form.useForm<Values>();
  const kind = Form.useWatch("kind", form) ?? hook?.kind ?? "webhook";
  const save = async (values: Values, key: string) => {
    const { name, url, event_types, locale } = values;
    const secret = values.secret ? { secret: values.secret } : {};
    if (hook) {
      // The address of a robot is shown masked: only a new one is sent.
      await editWebhook(hook.id, {
        name,
        event_types,
        locale,
        ...secret,
        ...(url !== hook.url && { url }),
      });
    } else {
      const made = await createWebhook(
        { name, url, event_types, locale, kind: values.kind, team: values.team ?? null, ...secret },
        key,
      );
      if (made.secret) onSecret(made.secret);
    }
    await client.invalidateQueries({ queryKey: ["webhooks"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  const mine = (teams.data ?? []).filter((team) => isAdmin(me.data) || team.my_roles.includes("lead"));
  return (
    <FormPanel<Values>
      form={form}
      title={hook ? t("webhook.change", { name: hook.name }) : t("webhook.new")}
      okText={t("action.save")}
      initial={{
        name: hook?.name ?? "",
        kind: hook?.kind ?? "webhook",
        url: hook?.url ?? "",
        event_types: hook?.event_types ?? [],
        locale: hook?.locale ?? "en",
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="name" label={t("field.name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        {!hook && (
          <>
            <Form.Item<Values> name="kind" label={t("webhook.kind")}>
              <Select
                options={WEBHOOK_KINDS.map((value) => ({ value, label: word("webhook_kind", value) }))}
              />
            </Form.Item>
            <Form.Item<Values>
              name="team"
              label={t("field.team")}
              rules={isAdmin(me.data) ? [] : [{ required: true, message: t("form.required") }]}
            >
              <Select
                allowClear
                placeholder={word("rule_level", "installation")}
                options={mine.map((team) => ({ value: team.slug, label: team.name }))}
              />
            </Form.Item>
          </>
        )}
        <Form.Item<Values> name="locale" label={t("webhook.language")}>
          <Select options={LANGUAGES.map((value) => ({ value, label: t(`language.${value}`) }))} />
        </Form.Item>
      </div>
      <Form.Item<Values> name="url" label={t("webhook.url")} extra={t("webhook.url_text")} rules={[required]}>
        <Input className="code" spellCheck={false} autoComplete="off" />
      </Form.Item>
      <div className="form-row">
        <Form.Item<Values> name="event_types" label={t("webhook.events")}>
          <Select
            mode="tags"
            placeholder={t("webhook.all_events")}
            options={EVENTS.map((value) => ({ value, label: value }))}
          />
        </Form.Item>
        {kind !== "webhook" && (
          <Form.Item<Values> name="secret" label={t("webhook.sign_secret")} extra={t("webhook.sign_text")}>
            <Input.Password autoComplete="off" />
          </Form.Item>
        )}
      </div>
    </FormPanel>
  );
}
