import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { deleteTeam } from "../../api/admin";
import type { Team } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { Facts, Section } from "../../components/page";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { TeamDefaults } from "../account/notifications";
import { Members } from "./members";
import { TeamForm } from "./team-form";
import { TeamQueues } from "./team-queues";
import { TeamQuotas } from "./team-quotas";

/** One team: its people with their roles, what it is guaranteed, its queues. */
export function TeamPanel({ team, onClose }: { team: Team; onClose: () => void }) {
  const { t } = useText();
  const me = useMe();
  const client = useQueryClient();
  const [editing, setEditing] = useState(false);
  const leads = isAdmin(me.data) || team.my_roles.includes("lead");
  const remove = async () => {
    await deleteTeam(team.id);
    await client.invalidateQueries({ queryKey: ["teams"] });
    onClose();
  };
  return (
    <>
      {editing && <TeamForm team={team} onClose={() => setEditing(false)} />}
      <Section
        title={team.name}
        extra={
          <span className="button-row">
            {leads && (
              <Button size="small" onClick={() => setEditing(true)}>
                {t("action.change")}
              </Button>
            )}
            {isAdmin(me.data) && (
              <ActButton
                label={t("action.delete")}
                of={team.name}
                ask={t("teams.ask_delete", { team: team.name })}
                text={t("teams.delete_text")}
                run={remove}
              />
            )}
            <Button size="small" onClick={onClose}>
              {t("nodes.close")}
            </Button>
          </span>
        }
      >
        <Facts
          items={[
            [t("field.slug"), <code key="slug">{team.slug}</code>],
            [t("teams.parent"), team.parent?.name ?? t("teams.top")],
            [t("people.since"), <When key="since" at={team.created_at} />],
            [t("field.id"), <code key="id">{team.id}</code>],
          ]}
        />
        <Members team={team} mayEdit={leads} />
        <TeamQuotas team={team} />
        <TeamQueues team={team} mayEdit={leads} />
        <TeamDefaults team={team.id} mayEdit={leads} />
      </Section>
    </>
  );
}
