import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Checkbox, Form, Input, Select } from "antd";
import { useState } from "react";
import { PLATFORM_ROLES, ROLES } from "../../api/admin";
import {
  checkProvider,
  createProvider,
  deleteProvider,
  editProvider,
  listProviders,
  type OidcCheck,
  type OidcProvider,
} from "../../api/identity";
import { ActButton } from "../../components/act-button";
import { useTeams } from "../../components/choose";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { Page } from "../../components/page";
import { DataTable } from "../../components/table";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { AdminMenu } from "./admin-menu";
import { SwitchMark } from "./switch-mark";

/** Who else may say who somebody is: providers of OpenID Connect, and which of their groups means which role. */
export function OidcPage() {
  const { t } = useText();
  const me = useMe();
  const [open, setOpen] = useState<OidcProvider | "new" | null>(null);
  const [checked, setChecked] = useState<OidcCheck | null>(null);
  const providers = useQuery({ queryKey: ["oidc-providers"], queryFn: listProviders });
  const admin = isAdmin(me.data);
  return (
    <Page
      title={t("admin.oidc")}
      actions={
        admin && (
          <Button type="primary" onClick={() => setOpen("new")}>
            {t("oidc.new")}
          </Button>
        )
      }
    >
      <AdminMenu />
      {open && (
        <ProviderForm
          key={open === "new" ? "new" : open.id}
          provider={open === "new" ? null : open}
          onClose={() => setOpen(null)}
        />
      )}
      <div aria-live="polite">
        {checked && (
          <p className={checked.ok ? "verdict" : "verdict bad"}>
            {t(checked.ok ? "oidc.check_ok" : "oidc.check_bad", { issuer: checked.issuer })} {checked.detail}
          </p>
        )}
      </div>
      <Answer of={providers}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing why={t("oidc.none")} next={t("oidc.none_next")} />
          ) : (
            <Providers rows={rows} admin={admin} onEdit={setOpen} onChecked={setChecked} />
          )
        }
      </Answer>
    </Page>
  );
}

type TableProps = {
  rows: OidcProvider[];
  admin: boolean;
  onEdit: (provider: OidcProvider) => void;
  onChecked: (check: OidcCheck) => void;
};
function Providers({ rows, admin, onEdit, onChecked }: TableProps) {
  const { t, word } = useText();
  const client = useQueryClient();
  return (
    <DataTable
      label={t("admin.oidc")}
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        {
          key: "name",
          head: t("field.name"),
          wide: true,
          cell: (row) => (
            <>
              <span className="name">{row.name}</span> <span className="quiet">{row.slug}</span>
              <div className="quiet">{row.issuer}</div>
              <div className="quiet">
                {t("oidc.redirect_uri")} <code>{row.redirect_uri}</code>
              </div>
            </>
          ),
        },
        {
          key: "groups",
          head: t("oidc.groups"),
          cell: (row) =>
            row.group_roles.length === 0 ? (
              "–"
            ) : (
              <ul className="bare">
                {row.group_roles.map((one) => (
                  <li key={JSON.stringify(one)}>
                    {one.group} →{" "}
                    {one.platform_role
                      ? word("platform_role", one.platform_role)
                      : `${one.team?.name ?? ""}: ${word("role", one.role ?? "")}`}
                  </li>
                ))}
              </ul>
            ),
        },
        {
          key: "people",
          head: t("oidc.new_people"),
          cell: (row) => t(row.create_users ? "word.yes" : "word.no"),
        },
        { key: "state", head: t("field.state"), cell: (row) => <SwitchMark state={row.state} /> },
        {
          key: "acts",
          head: t("nodes.actions"),
          cell: (row) =>
            admin && (
              <span className="button-row">
                <ActButton
                  label={t("oidc.check")}
                  of={row.name}
                  danger={false}
                  run={async () => onChecked(await checkProvider(row.slug))}
                />
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
                  ask={t("oidc.ask_delete", { name: row.name })}
                  text={t("oidc.delete_text")}
                  run={async () => {
                    await deleteProvider(row.slug);
                    await client.invalidateQueries({ queryKey: ["oidc-providers"] });
                  }}
                />
              </span>
            ),
        },
      ]}
    />
  );
}

type GroupRow = { group: string; means: string; team?: string };
type Values = {
  slug: string;
  name: string;
  issuer: string;
  client_id: string;
  client_secret?: string;
  username_claim: string;
  groups_claim: string;
  create_users: boolean;
  enabled: boolean;
  group_roles: GroupRow[];
};
const TEAM = "team:";
const meansOf = (one: OidcProvider["group_roles"][number]): GroupRow =>
  one.platform_role
    ? { group: one.group, means: one.platform_role }
    : { group: one.group, means: `${TEAM}${one.role}`, team: one.team?.slug ?? "" };

function ProviderForm({ provider, onClose }: { provider: OidcProvider | null; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const save = async (values: Values, key: string) => {
    const { slug, enabled, group_roles, client_secret, ...rest } = values;
    const body = {
      ...rest,
      ...(client_secret && { client_secret }),
      state: enabled ? ("enabled" as const) : ("disabled" as const),
      group_roles: group_roles.map((row) => bodyOf(row)),
    } as Parameters<typeof editProvider>[1];
    if (provider) await editProvider(provider.slug, body);
    else await createProvider({ ...body, slug } as Parameters<typeof createProvider>[0], key);
    await client.invalidateQueries({ queryKey: ["oidc-providers"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  const meanings = [
    ...ROLES.map((role) => ({
      value: `${TEAM}${role}`,
      label: t("oidc.in_team", { role: word("role", role) }),
    })),
    ...PLATFORM_ROLES.map((role) => ({
      value: role,
      label: t("approval.platform_seat", { role: word("platform_role", role) }),
    })),
  ];
  return (
    <FormPanel<Values>
      title={provider ? t("oidc.change", { name: provider.name }) : t("oidc.new")}
      okText={t("action.save")}
      initial={{
        slug: "",
        name: provider?.name ?? "",
        issuer: provider?.issuer ?? "https://",
        client_id: provider?.client_id ?? "",
        client_secret: "",
        username_claim: provider?.username_claim ?? "preferred_username",
        groups_claim: provider?.groups_claim ?? "groups",
        create_users: provider?.create_users ?? true,
        enabled: provider ? provider.state === "enabled" : true,
        group_roles: provider?.group_roles.map(meansOf) ?? [],
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!provider && (
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
        <Form.Item<Values> name="client_id" label={t("oidc.client_id")} rules={[required]}>
          <Input className="code" autoComplete="off" />
        </Form.Item>
        <Form.Item<Values>
          name="client_secret"
          label={t("oidc.client_secret")}
          extra={provider?.has_client_secret ? t("oidc.secret_stays") : undefined}
        >
          <Input.Password autoComplete="off" />
        </Form.Item>
        <Form.Item<Values> name="username_claim" label={t("oidc.username_claim")} rules={[required]}>
          <Input className="code" />
        </Form.Item>
        <Form.Item<Values> name="groups_claim" label={t("oidc.groups_claim")} rules={[required]}>
          <Input className="code" />
        </Form.Item>
      </div>
      <div className="checks">
        <Form.Item<Values> name="create_users" valuePropName="checked" noStyle>
          <Checkbox>{t("oidc.create_users")}</Checkbox>
        </Form.Item>
        <Form.Item<Values> name="enabled" valuePropName="checked" noStyle>
          <Checkbox>{t("switch.enabled")}</Checkbox>
        </Form.Item>
      </div>
      <h3>{t("oidc.groups")}</h3>
      <Form.List name="group_roles">
        {(rows, { add, remove }) => (
          <>
            {rows.map((row, at) => (
              <div className="form-row" key={row.key}>
                <Form.Item name={[row.name, "group"]} label={t("oidc.group")} rules={[required]}>
                  <Input />
                </Form.Item>
                <Form.Item name={[row.name, "means"]} label={t("oidc.means")} rules={[required]}>
                  <Select options={meanings} />
                </Form.Item>
                <Form.Item noStyle shouldUpdate>
                  {({ getFieldValue }) =>
                    String(getFieldValue(["group_roles", row.name, "means"]) ?? "").startsWith(TEAM) && (
                      <Form.Item name={[row.name, "team"]} label={t("field.team")} rules={[required]}>
                        <Select
                          options={(teams.data ?? []).map((team) => ({
                            value: team.slug,
                            label: team.name,
                          }))}
                        />
                      </Form.Item>
                    )
                  }
                </Form.Item>
                <Form.Item label={t("nodes.actions")}>
                  <Button
                    aria-label={`${t("action.delete")} ${t("oidc.group")} ${at + 1}`}
                    onClick={() => remove(row.name)}
                  >
                    {t("action.delete")}
                  </Button>
                </Form.Item>
              </div>
            ))}
            <p>
              <Button onClick={() => add({ means: `${TEAM}member` })}>{t("oidc.add_group")}</Button>
            </p>
          </>
        )}
      </Form.List>
    </FormPanel>
  );
}

const bodyOf = ({ group, means, team }: GroupRow) =>
  means.startsWith(TEAM)
    ? { group, team: team ?? "", role: means.slice(TEAM.length) }
    : { group, platform_role: means };
