import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Form, Input, Select } from "antd";
import { useState } from "react";
import {
  grantRole,
  listMembers,
  listUsers,
  type Membership,
  ROLES,
  type Role,
  withdrawRole,
} from "../../api/admin";
import { Problem } from "../../api/problem";
import type { Team } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { SubHead } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { useMe } from "../../session";

/** Who has which role in the team; it counts for the teams below too. */
export function Members({ team, mayEdit }: { team: Team; mayEdit: boolean }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const members = useQuery({ queryKey: ["members", team.id], queryFn: () => listMembers(team.id) });
  const withdraw = async (one: Membership) => {
    await withdrawRole(team.id, one.user.id, one.role);
    await client.invalidateQueries({ queryKey: ["members", team.id] });
    void client.invalidateQueries({ queryKey: ["users"] });
  };
  const hidden = members.error instanceof Problem && members.error.status === 403;
  return (
    <>
      <SubHead
        title={t("teams.members")}
        act={mayEdit && !adding ? t("teams.add_member") : null}
        onAct={() => setAdding(true)}
      />
      <p className="quiet">{t("teams.members_text")}</p>
      {adding && <MemberForm team={team} onClose={() => setAdding(false)} />}
      {hidden ? (
        <Nothing why={t("teams.members_hidden")} />
      ) : (
        <Answer of={members}>
          {(rows) =>
            rows.length === 0 ? (
              <Nothing why={t("teams.no_members")} next={t("teams.no_members_next")} />
            ) : (
              <DataTable
                label={t("teams.members")}
                rows={rows}
                rowKey={(row) => row.user.id + row.role}
                columns={[
                  {
                    key: "user",
                    head: t("field.user"),
                    wide: true,
                    cell: ({ user }) => (
                      <>
                        <span className="name">{user.display_name}</span>{" "}
                        <span className="quiet">{user.username}</span>
                      </>
                    ),
                  },
                  { key: "role", head: t("teams.role"), cell: (row) => word("role", row.role) },
                  { key: "since", head: t("people.since"), cell: (row) => <When at={row.created_at} /> },
                  {
                    key: "acts",
                    head: t("nodes.actions"),
                    cell: (row) =>
                      mayEdit && (
                        <ActButton
                          label={t("teams.withdraw_role")}
                          of={`${row.user.display_name} ${word("role", row.role)}`}
                          ask={t("teams.ask_withdraw", {
                            name: row.user.display_name,
                            role: word("role", row.role),
                          })}
                          run={() => withdraw(row)}
                        />
                      ),
                  },
                ]}
              />
            )
          }
        </Answer>
      )}
    </>
  );
}

type Values = { user: string; role: Role };
function MemberForm({ team, onClose }: { team: Team; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const me = useMe();
  // Only those with a role in the whole installation may list people; others write a name.
  const reads = (me.data?.platform_roles.length ?? 0) > 0;
  const users = useQuery({ queryKey: ["users"], queryFn: listUsers, enabled: reads });
  const save = async ({ user, role }: Values) => {
    await grantRole(team.id, user.trim(), role);
    await client.invalidateQueries({ queryKey: ["members", team.id] });
    void client.invalidateQueries({ queryKey: ["users"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={t("teams.add_member")}
      okText={t("teams.give_role")}
      initial={{ role: "member" }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="user" label={t("auth.username")} rules={[required]}>
          {reads ? (
            <Select
              showSearch={{ optionFilterProp: "label" }}
              options={(users.data ?? [])
                .filter((user) => user.state === "active")
                .map((user) => ({
                  value: user.username,
                  label: `${user.display_name} (${user.username})`,
                }))}
            />
          ) : (
            <Input autoComplete="off" />
          )}
        </Form.Item>
        <Form.Item<Values> name="role" label={t("teams.role")} rules={[required]}>
          <Select options={ROLES.map((value) => ({ value, label: word("role", value) }))} />
        </Form.Item>
      </div>
      <ul className="quiet">
        {ROLES.map((role) => (
          <li key={role}>
            {word("role", role)}: {word("role_about", role)}
          </li>
        ))}
      </ul>
    </FormPanel>
  );
}
