import { useQueryClient } from "@tanstack/react-query";
import { Button, Checkbox, Form, Input, Select } from "antd";
import { useState } from "react";
import { createToken, listTokens, revokeToken, SCOPES, type Token } from "../../api/admin";
import { ActButton } from "../../components/act-button";
import { useTeams } from "../../components/choose";
import { Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { CheckIcon, ClockIcon, StopIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { Secret } from "../../components/secret";
import { Mark } from "../../components/tags";
import { Until, useNow, When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Tokens with which programs act for the reader; each is shown once, when it is made. */
export function Tokens() {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const revoke = async (token: Token) => {
    await revokeToken(token.id);
    await client.invalidateQueries({ queryKey: ["tokens"] });
  };
  const teamName = (id: string) => teams.data?.find((team) => team.id === id)?.name ?? id;
  return (
    <>
      {making && <TokenForm onClose={() => setMaking(false)} onMade={setMade} />}
      {made && (
        <Secret
          title={t("tokens.made")}
          secret={made}
          how={`curl -H "Authorization: Bearer $REEVE_TOKEN" ${location.origin}/api/v1/me`}
          onClose={() => setMade(null)}
        />
      )}
      <Section
        title={t("tokens.title")}
        extra={
          <Button size="small" onClick={() => setMaking(true)}>
            {t("tokens.new")}
          </Button>
        }
      >
        <PagedTable<Token>
          label={t("tokens.title")}
          queryKey={["tokens"]}
          load={listTokens}
          rowKey={(token) => token.id}
          empty={<Nothing why={t("tokens.none")} next={t("tokens.none_next")} />}
          columns={[
            {
              key: "name",
              head: t("field.name"),
              wide: true,
              cell: (token) => <span className="name">{token.name}</span>,
            },
            { key: "hint", head: t("tokens.hint"), cell: (token) => <code>{token.hint}</code> },
            {
              key: "scopes",
              head: t("tokens.scopes"),
              cell: (token) => token.scopes.map((scope) => word("scope", scope)).join(t("quota.separator")),
            },
            {
              key: "teams",
              head: t("tokens.teams"),
              cell: (token) =>
                token.team_ids?.map(teamName).join(t("quota.separator")) ?? t("tokens.all_teams"),
            },
            { key: "state", head: t("field.state"), cell: (token) => <State token={token} /> },
            { key: "used", head: t("tokens.last_used"), cell: (token) => <When at={token.last_used_at} /> },
            { key: "made", head: t("people.since"), cell: (token) => <When at={token.created_at} /> },
            {
              key: "acts",
              head: t("nodes.actions"),
              cell: (token) =>
                !token.revoked_at && (
                  <ActButton
                    label={t("tokens.revoke")}
                    of={token.name}
                    ask={t("tokens.ask_revoke", { name: token.name })}
                    text={t("tokens.revoke_text")}
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

function State({ token }: { token: Token }) {
  const { t } = useText();
  const now = useNow(15_000);
  if (token.revoked_at)
    return (
      <Mark tone="bad" icon={<StopIcon />}>
        {t("tokens.revoked")} <When at={token.revoked_at} />
      </Mark>
    );
  if (token.expires_at && Date.parse(token.expires_at) <= now)
    return (
      <Mark tone="free" icon={<ClockIcon />}>
        {t("tokens.expired")}
      </Mark>
    );
  return (
    <Mark tone="good" icon={<CheckIcon />}>
      {token.expires_at ? (
        <>
          {t("tokens.valid")} <Until to={token.expires_at} />
        </>
      ) : (
        t("tokens.no_end")
      )}
    </Mark>
  );
}

const DAYS = [7, 30, 90, 365] as const;
type Values = { name: string; scopes: string[]; teams: string[]; days: number | 0 };
function TokenForm({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const save = async (values: Values, key: string) => {
    const made = await createToken(
      {
        name: values.name.trim(),
        scopes: values.scopes,
        team_ids: values.teams.length ? values.teams : null,
        expires_in_secs: values.days ? values.days * 86_400 : null,
      },
      key,
    );
    await client.invalidateQueries({ queryKey: ["tokens"] });
    onMade(made.token);
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={t("tokens.new")}
      okText={t("tokens.create")}
      initial={{ name: "", scopes: ["read"], teams: [], days: 90 }}
      fieldFor={(name) => ({ team_ids: "teams", expires_in_secs: "days" })[name] ?? name}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="name" label={t("field.name")} rules={[{ ...required, whitespace: true }]}>
          <Input maxLength={100} placeholder={t("tokens.name_example")} />
        </Form.Item>
        <Form.Item<Values> name="teams" label={t("tokens.teams")}>
          <Select
            mode="multiple"
            placeholder={t("tokens.all_teams")}
            showSearch={{ optionFilterProp: "label" }}
            options={(teams.data ?? []).map((team) => ({ value: team.id, label: team.name }))}
          />
        </Form.Item>
        <Form.Item<Values> name="days" label={t("tokens.lasts")}>
          <Select
            options={[
              ...DAYS.map((days) => ({ value: days as number, label: t("tokens.days", { count: days }) })),
              { value: 0, label: t("tokens.no_end") },
            ]}
          />
        </Form.Item>
      </div>
      <Form.Item<Values> name="scopes" label={t("tokens.scopes")} rules={[required]}>
        <Checkbox.Group
          options={SCOPES.map((scope) => ({
            value: scope,
            label: `${word("scope", scope)}: ${word("scope_about", scope)}`,
          }))}
        />
      </Form.Item>
    </FormPanel>
  );
}
