import { useQueryClient } from "@tanstack/react-query";
import { Form, Input, Select } from "antd";
import { createTeam, editTeam } from "../../api/admin";
import type { Team } from "../../api/views";
import { useTeams } from "../../components/choose";
import { FormPanel } from "../../components/form-panel";
import { teamTree } from "../../lib/team-tree";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";

type Values = { slug: string; name: string; parent?: string | undefined };
type Props = {
  team: Team | null;
  parent?: string | undefined;
  onClose: () => void;
  onSaved?: (team: Team) => void;
};

/** A new team, or another name or place in the tree for one. */
export function TeamForm({ team, parent, onClose, onSaved }: Props) {
  const { t, locale } = useText();
  const client = useQueryClient();
  const me = useMe();
  const teams = useTeams();
  const above = team ? team.parent?.slug : parent;
  const save = async (values: Values, key: string) => {
    const moved = values.parent !== above;
    const saved = team
      ? await editTeam(team, { name: values.name, ...(moved && { parent: values.parent ?? null }) })
      : await createTeam({ slug: values.slug, name: values.name, parent: values.parent ?? null }, key);
    await client.invalidateQueries({ queryKey: ["teams"] });
    onSaved?.(saved);
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={team ? t("teams.change", { team: team.name }) : t("teams.new")}
      okText={t(team ? "action.save" : "teams.create")}
      initial={{ slug: team?.slug ?? "", name: team?.name ?? "", parent: above }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!team && (
          <Form.Item<Values> name="slug" label={t("field.slug")} extra={t("form.slug")} rules={[required]}>
            <Input autoComplete="off" maxLength={64} />
          </Form.Item>
        )}
        <Form.Item<Values> name="name" label={t("field.name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item<Values> name="parent" label={t("teams.parent")}>
          <Select
            allowClear
            disabled={!isAdmin(me.data)}
            placeholder={t("teams.top")}
            showSearch={{ optionFilterProp: "label" }}
            options={teamTree(teams.data ?? [], locale)
              .filter((row) => row.team.id !== team?.id)
              .map((row) => ({ value: row.team.slug, label: row.team.name }))}
          />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
