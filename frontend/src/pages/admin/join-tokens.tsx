import { useQueryClient } from "@tanstack/react-query";
import { Button, Form, InputNumber, Select } from "antd";
import { useState } from "react";
import { createJoinToken, type JoinToken, listJoinTokens, revokeJoinToken } from "../../api/admin";
import { ActButton } from "../../components/act-button";
import { usePools } from "../../components/choose";
import { Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { CheckIcon, ClockIcon, StopIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { Secret } from "../../components/secret";
import { Mark } from "../../components/tags";
import { Until, useNow, When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Tokens that machines spend once each to become nodes of a pool. */
export function JoinTokens({ mayEdit }: { mayEdit: boolean }) {
  const { t, n } = useText();
  const client = useQueryClient();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const revoke = async (token: JoinToken) => {
    await revokeJoinToken(token.id);
    await client.invalidateQueries({ queryKey: ["join-tokens"] });
  };
  if (!mayEdit) return null;
  return (
    <>
      {making && <JoinForm onClose={() => setMaking(false)} onMade={setMade} />}
      {made && (
        <Secret
          title={t("join.made")}
          secret={made}
          how={`reeve-agent run --server ${location.origin} --token-file token.txt`}
          onClose={() => setMade(null)}
        />
      )}
      <Section
        title={t("join.title")}
        extra={
          <Button size="small" onClick={() => setMaking(true)}>
            {t("join.new")}
          </Button>
        }
      >
        <PagedTable<JoinToken>
          label={t("join.title")}
          queryKey={["join-tokens"]}
          load={listJoinTokens}
          rowKey={(token) => token.id}
          empty={<Nothing why={t("join.none")} next={t("join.none_next")} />}
          columns={[
            { key: "hint", head: t("tokens.hint"), wide: true, cell: (token) => <code>{token.hint}</code> },
            { key: "pool", head: t("field.pool"), cell: (token) => token.pool.slug },
            {
              key: "uses",
              head: t("join.uses"),
              number: true,
              cell: (token) => t("nodes.free_of_cell", { free: n(token.uses), all: n(token.max_uses) }),
            },
            { key: "state", head: t("field.state"), cell: (token) => <State token={token} /> },
            { key: "made", head: t("people.since"), cell: (token) => <When at={token.created_at} /> },
            {
              key: "acts",
              head: t("nodes.actions"),
              cell: (token) =>
                !token.revoked_at &&
                Date.parse(token.expires_at) > Date.now() && (
                  <ActButton
                    label={t("tokens.revoke")}
                    of={token.hint}
                    ask={t("join.ask_revoke")}
                    text={t("join.revoke_text")}
                    run={() => revoke(token)}
                  />
                ),
            },
          ]}
        />
      </Section>
    </>
  );
}

function State({ token }: { token: JoinToken }) {
  const { t } = useText();
  const now = useNow(15_000);
  if (token.revoked_at)
    return (
      <Mark tone="bad" icon={<StopIcon />}>
        {t("tokens.revoked")} <When at={token.revoked_at} />
      </Mark>
    );
  if (token.uses >= token.max_uses)
    return (
      <Mark tone="free" icon={<CheckIcon />}>
        {t("join.used_up")}
      </Mark>
    );
  if (Date.parse(token.expires_at) <= now)
    return (
      <Mark tone="free" icon={<ClockIcon />}>
        {t("tokens.expired")}
      </Mark>
    );
  return (
    <Mark tone="good" icon={<CheckIcon />}>
      {t("tokens.valid")} <Until to={token.expires_at} />
    </Mark>
  );
}

type Values = { pool: string; max_uses: number; hours: number };
function JoinForm({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const { t } = useText();
  const client = useQueryClient();
  const pools = usePools();
  const save = async ({ pool, max_uses, hours }: Values, key: string) => {
    const made = await createJoinToken({ pool, max_uses, expires_in_secs: Math.round(hours * 3600) }, key);
    await client.invalidateQueries({ queryKey: ["join-tokens"] });
    onMade(made.token);
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={t("join.new")}
      okText={t("join.create")}
      initial={{ max_uses: 1, hours: 1, ...(pools.data?.[0] && { pool: pools.data[0].slug }) }}
      fieldFor={(name) => (name === "expires_in_secs" ? "hours" : name)}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="pool" label={t("field.pool")} rules={[required]}>
          <Select options={(pools.data ?? []).map((pool) => ({ value: pool.slug, label: pool.slug }))} />
        </Form.Item>
        <Form.Item<Values> name="max_uses" label={t("join.max_uses")} rules={[required]}>
          <InputNumber min={1} max={10_000} precision={0} />
        </Form.Item>
        <Form.Item<Values> name="hours" label={t("join.hours")} rules={[required]}>
          <InputNumber min={1} max={720} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
