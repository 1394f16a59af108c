import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useMemo, useState } from "react";
import type { Team } from "../../api/views";
import { useTeams } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { Page, Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { teamTree } from "../../lib/team-tree";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { AdminMenu } from "./admin-menu";
import { TeamForm } from "./team-form";
import { TeamPanel } from "./team-panel";

/** The tree of teams; one of them with its people, quotas and queues. */
export function TeamsPage() {
  const { t, locale, word } = useText();
  const search = useSearch({ from: "/admin/teams" });
  const navigate = useNavigate({ from: "/admin/teams" });
  const choose = (team: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, team }), replace: true });
  const me = useMe();
  const teams = useTeams();
  const [making, setMaking] = useState(false);
  const rows = useMemo(() => teamTree(teams.data ?? [], locale), [teams.data, locale]);
  const chosen = teams.data?.find((team) => team.slug === search.team);
  return (
    <Page
      title={t("admin.teams")}
      actions={
        isAdmin(me.data) && (
          <Button type="primary" onClick={() => setMaking(true)}>
            {t("teams.new")}
          </Button>
        )
      }
    >
      <AdminMenu />
      {making && (
        <TeamForm
          team={null}
          parent={chosen?.slug}
          onClose={() => setMaking(false)}
          onSaved={(team) => choose(team.slug)}
        />
      )}
      {chosen && <TeamPanel key={chosen.id} team={chosen} onClose={() => choose(undefined)} />}
      <Section
        title={t("teams.tree")}
        extra={<CsvButton name="reeve-teams" columns={CSV} rows={() => rows.map((row) => row.team)} />}
      >
        <Answer of={teams}>
          {() =>
            rows.length === 0 ? (
              <Nothing why={t("teams.none")} next={t("teams.none_next")} />
            ) : (
              <DataTable
                label={t("teams.tree")}
                rows={rows}
                rowKey={({ team }) => team.id}
                columns={[
                  {
                    key: "team",
                    head: t("field.team"),
                    wide: true,
                    cell: ({ team, depth }) => (
                      <div className={`depth-${Math.min(depth, 4)}`}>
                        <span className="name">{team.name}</span> <span className="quiet">{team.slug}</span>
                      </div>
                    ),
                  },
                  {
                    key: "mine",
                    head: t("teams.my_roles"),
                    cell: ({ team }) =>
                      team.my_roles.map((role) => word("role", role)).join(t("quota.separator")) || "–",
                  },
                  {
                    key: "since",
                    head: t("people.since"),
                    cell: ({ team }) => <When at={team.created_at} />,
                  },
                  {
                    key: "acts",
                    head: t("nodes.actions"),
                    cell: ({ team }) => (
                      <Button
                        size="small"
                        aria-pressed={team.id === chosen?.id}
                        aria-label={`${t("nodes.details")} ${team.name}`}
                        onClick={() => choose(team.slug)}
                      >
                        {t("nodes.details")}
                      </Button>
                    ),
                  },
                ]}
              />
            )
          }
        </Answer>
      </Section>
    </Page>
  );
}

const CSV: Column<Team>[] = [
  { head: "id", cell: (team) => team.id },
  { head: "slug", cell: (team) => team.slug },
  { head: "name", cell: (team) => team.name },
  { head: "parent", cell: (team) => team.parent?.slug },
  { head: "created_at", cell: (team) => team.created_at },
];
