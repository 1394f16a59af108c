import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Checkbox, Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { ROLES, SCOPES } from "../../api/admin";
import {
  createWorkloadRule,
  deleteWorkloadRule,
  editWorkloadRule,
  listWorkloadRules,
  type WorkloadRule,
} from "../../api/identity";
import { ActButton } from "../../components/act-button";
import { useTeams } from "../../components/choose";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { Page } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { AdminMenu } from "./admin-menu";
import { SwitchMark } from "./switch-mark";

/** Which programs sign in with the token of their own platform, as whom, and with which rights. */
export function WorkloadPage() {
  const { t } = useText();
  const me = useMe();
  const [open, setOpen] = useState<WorkloadRule | "new" | null>(null);
  const rules = useQuery({ queryKey: ["workload-rules"], queryFn: listWorkloadRules });
  const admin = isAdmin(me.data);
  return (
    <Page
      title={t("admin.workload")}
      actions={
        admin && (
          <Button type="primary" onClick={() => setOpen("new")}>
            {t("workload.new")}
          </Button>
        )
      }
    >
      <AdminMenu />
      {open && (
        <RuleForm
          key={open === "new" ? "new" : open.id}
          rule={open === "new" ? null : open}
          onClose={() => setOpen(null)}
        />
      )}
      <Answer of={rules}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing why={t("workload.none")} next={t("workload.none_next")} />
          ) : (
            <RuleTable rows={rows} admin={admin} onEdit={setOpen} />
          )
        }
      </Answer>
    </Page>
  );
}

type TableProps = { rows: WorkloadRule[]; admin: boolean; onEdit: (rule: WorkloadRule) => void };
function RuleTable({ rows, admin, onEdit }: TableProps) {
  const { t, word, duration } = useText();
  const client = useQueryClient();
  return (
    <DataTable
      label={t("admin.workload")}
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        {
          key: "name",
          head: t("field.name"),
          cell: (row) => (
            <>
              <span className="name">{row.name}</span> <span className="quiet">{row.slug}</span>
            </>
          ),
        },
        {
          key: "who",
          head: t("workload.conditions"),
          wide: true,
          cell: (row) => (
            <>
              <div className="quiet">{row.issuer}</div>
              {row.conditions.map((one) => (
                <div key={one.claim}>
                  <code>{`${one.claim} ${one.equals != null ? "=" : "~"} ${one.equals ?? one.matches ?? ""}`}</code>
                </div>
              ))}
            </>
          ),
        },
        {
          key: "role",
          head: t("workload.acts_as"),
          cell: (row) => `${row.team.name}: ${word("role", row.role)}`,
        },
        {
          key: "scopes",
          head: t("tokens.scopes"),
          cell: (row) => row.scopes.map((scope) => word("scope", scope)).join(t("quota.separator")),
        },
        { key: "lasts", head: t("tokens.lasts"), number: true, cell: (row) => duration(row.token_secs) },
        { key: "state", head: t("field.state"), cell: (row) => <SwitchMark state={row.state} /> },
        { key: "used", head: t("tokens.last_used"), cell: (row) => <When at={row.last_used_at} /> },
        {
          key: "acts",
          head: t("nodes.actions"),
          cell: (row) =>
            admin && (
              <span className="button-row">
                <Button
                  size="small"
                  aria-label={`${t("action.change")} ${row.name}`}
                  onClick={() => onEdit(row)}
                >
                  {t("action.change")}
                </Button>
                <ActButton
                  label={t("action.delete")}
                  of={row.name}
                  ask={t("workload.ask_delete", { name: row.name })}
                  text={t("workload.delete_text")}
                  run={async () => {
                    await deleteWorkloadRule(row.slug);
                    await client.invalidateQueries({ queryKey: ["workload-rules"] });
                  }}
                />
              </span>
            ),
        },
      ]}
    />
  );
}

type Condition = { claim: string; how: "equals" | "matches"; text: string };
type Values = {
  slug: string;
  name: string;
  issuer: string;
  audience: string;
  conditions: Condition[];
  team: string;
  role: string;
  scopes: string[];
  token_secs: number;
  enabled: boolean;
};

function RuleForm({ rule, onClose }: { rule: WorkloadRule | null; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const save = async (values: Values, key: string) => {
    const { slug, enabled, conditions, ...rest } = values;
    const body = {
      ...rest,
      state: enabled ? ("enabled" as const) : ("disabled" as const),
      conditions: conditions.map(({ claim, how, text }) => ({ claim, [how]: text })),
    } as unknown as Parameters<typeof editWorkloadRule>[1];
    if (rule) await editWorkloadRule(rule.slug, body);
    else await createWorkloadRule({ ...body, slug } as Parameters<typeof createWorkloadRule>[0], key);
    await client.invalidateQueries({ queryKey: ["workload-rules"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  const chosen = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={rule ? t("workload.change", { name: rule.name }) : t("workload.new")}
      okText={t("action.save")}
      initial={{
        slug: "",
        name: rule?.name ?? "",
        issuer: rule?.issuer ?? "https://token.actions.githubusercontent.com",
        audience: rule?.audience ?? location.origin,
        conditions: rule?.conditions.map((one) => ({
          claim: one.claim,
          how: one.equals != null ? ("equals" as const) : ("matches" as const),
          text: one.equals ?? one.matches ?? "",
        })) ?? [{ claim: "repository", how: "equals", text: "" }],
        ...(rule && { team: rule.team.slug }),
        role: rule?.role ?? "member",
        scopes: rule?.scopes ?? ["read", "write"],
        token_secs: rule?.token_secs ?? 900,
        enabled: rule ? rule.state === "enabled" : true,
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!rule && (
          <Form.Item<Values> name="slug" label={t("field.slug")} extra={t("form.slug")} rules={[required]}>
            <Input autoComplete="off" maxLength={64} />
          </Form.Item>
        )}
        <Form.Item<Values> name="name" label={t("field.name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item<Values> name="issuer" label={t("oidc.issuer")} rules={[required]}>
          <Input className="code" />
        </Form.Item>
        <Form.Item<Values> name="audience" label={t("workload.audience")} rules={[required]}>
          <Input className="code" />
        </Form.Item>
      </div>
      <div className="form-row">
        <Form.Item<Values> name="team" label={t("field.team")} rules={[chosen]}>
          <Select options={(teams.data ?? []).map((team) => ({ value: team.slug, label: team.name }))} />
        </Form.Item>
        <Form.Item<Values> name="role" label={t("teams.role")} rules={[chosen]}>
          <Select options={ROLES.map((value) => ({ value, label: word("role", value) }))} />
        </Form.Item>
        <Form.Item<Values> name="token_secs" label={t("workload.token_secs")} rules={[chosen]}>
          <InputNumber min={60} max={3600} precision={0} />
        </Form.Item>
      </div>
      <Form.Item<Values> name="scopes" label={t("tokens.scopes")} rules={[chosen]}>
        <Checkbox.Group options={SCOPES.map((scope) => ({ value: scope, label: word("scope", scope) }))} />
      </Form.Item>
      <h3>{t("workload.conditions")}</h3>
      <p className="quiet">{t("workload.conditions_text")}</p>
      <Form.List name="conditions">
        {(rows, { add, remove }) => (
          <>
            {rows.map((row, at) => (
              <div className="form-row" key={row.key}>
                <Form.Item name={[row.name, "claim"]} label={t("workload.claim")} rules={[required]}>
                  <Input className="code" />
                </Form.Item>
                <Form.Item name={[row.name, "how"]} label={t("workload.how")}>
                  <Select
                    options={["equals", "matches"].map((value) => ({
                      value,
                      label: word("condition", value),
                    }))}
                  />
                </Form.Item>
                <Form.Item name={[row.name, "text"]} label={t("rules.value")} rules={[required]}>
                  <Input className="code" />
                </Form.Item>
                <Form.Item label={t("nodes.actions")}>
                  <Button
                    aria-label={`${t("action.delete")} ${t("workload.claim")} ${at + 1}`}
                    disabled={rows.length === 1}
                    onClick={() => remove(row.name)}
                  >
                    {t("action.delete")}
                  </Button>
                </Form.Item>
              </div>
            ))}
            <p>
              <Button onClick={() => add({ how: "equals" })}>{t("workload.add_condition")}</Button>
            </p>
          </>
        )}
      </Form.List>
      <Form.Item<Values> name="enabled" valuePropName="checked">
        <Checkbox>{t("switch.enabled")}</Checkbox>
      </Form.Item>
    </FormPanel>
  );
}
