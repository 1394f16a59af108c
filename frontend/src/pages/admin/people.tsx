import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Input } from "antd";
import { useMemo, useState } from "react";
import { listUsers, PLATFORM_ROLES, type User } from "../../api/admin";
import { ChooseWord } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { CheckIcon, StopIcon } from "../../components/icons";
import { Page } from "../../components/page";
import { DataTable } from "../../components/table";
import { Mark } from "../../components/tags";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { compareNames } from "../../lib/format";
import { useText } from "../../lib/use-text";
import { USER_STATES } from "../../lib/user-states";
import { isAdmin, useMe } from "../../session";
import { AdminMenu } from "./admin-menu";
import { PersonForm } from "./person-form";

/** Who can sign in, and what each may do. */
export function PeoplePage() {
  const { t, locale } = useText();
  const search = useSearch({ from: "/admin/people" });
  const navigate = useNavigate({ from: "/admin/people" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const me = useMe();
  const [open, setOpen] = useState<User | "new" | null>(null);
  const users = useQuery({ queryKey: ["users"], queryFn: listUsers });
  const rows = useMemo(() => pick(users.data ?? [], search, locale), [users.data, search, locale]);
  return (
    <Page
      title={t("admin.people")}
      actions={
        isAdmin(me.data) && (
          <Button type="primary" onClick={() => setOpen("new")}>
            {t("people.new")}
          </Button>
        )
      }
    >
      <AdminMenu />
      {open && (
        <PersonForm
          key={open === "new" ? "new" : open.id}
          user={open === "new" ? null : open}
          onClose={() => setOpen(null)}
        />
      )}
      <div className="filters">
        <Input
          className="choose"
          aria-label={t("people.name_contains")}
          placeholder={t("people.name_contains")}
          allowClear
          value={search.name ?? ""}
          onChange={(event) => set({ name: event.target.value || undefined })}
        />
        <ChooseWord
          label={t("people.platform_role")}
          group="platform_role"
          values={PLATFORM_ROLES}
          value={search.role}
          onChange={(role) => set({ role: role as (typeof PLATFORM_ROLES)[number] })}
        />
        <ChooseWord
          label={t("field.state")}
          group="user_state"
          values={USER_STATES}
          value={search.state}
          onChange={(state) => set({ state: state as (typeof USER_STATES)[number] })}
        />
        <CsvButton name="reeve-people" columns={CSV} rows={() => rows} />
      </div>
      <Answer of={users}>
        {() =>
          rows.length === 0 ? (
            <Nothing
              why={t("people.none_match")}
              next={<Link to="/admin/people">{t("action.clear_filters")}</Link>}
            />
          ) : (
            <PeopleTable rows={rows} onEdit={isAdmin(me.data) ? setOpen : null} />
          )
        }
      </Answer>
    </Page>
  );
}

function PeopleTable({ rows, onEdit }: { rows: User[]; onEdit: ((user: User) => void) | null }) {
  const { t, word } = useText();
  return (
    <DataTable
      label={t("admin.people")}
      rows={rows}
      rowKey={(user) => user.id}
      columns={[
        {
          key: "name",
          head: t("field.name"),
          cell: (user) => (
            <>
              <span className="name">{user.display_name}</span>
              <div className="quiet">{user.username}</div>
            </>
          ),
        },
        {
          key: "state",
          head: t("field.state"),
          cell: (user) => (
            <Mark
              tone={user.state === "active" ? "good" : "free"}
              icon={user.state === "active" ? <CheckIcon /> : <StopIcon />}
            >
              {word("user_state", user.state)}
            </Mark>
          ),
        },
        {
          key: "platform",
          head: t("people.platform_role"),
          cell: (user) =>
            user.platform_roles.map((role) => word("platform_role", role)).join(t("quota.separator")) || "–",
        },
        {
          key: "teams",
          head: t("people.memberships"),
          wide: true,
          cell: (user) =>
            user.memberships.length === 0 ? (
              <span className="quiet">–</span>
            ) : (
              <ul className="bare">
                {user.memberships.map((one) => (
                  <li key={one.team.id + one.role}>
                    <Link to="/admin/teams" search={{ team: one.team.slug }}>
                      {one.team.name}
                    </Link>{" "}
                    <span className="quiet">{word("role", one.role)}</span>
                  </li>
                ))}
              </ul>
            ),
        },
        { key: "email", head: t("people.email"), cell: (user) => user.email ?? "–" },
        { key: "since", head: t("people.since"), cell: (user) => <When at={user.created_at} /> },
        {
          key: "acts",
          head: t("nodes.actions"),
          cell: (user) =>
            onEdit && (
              <Button
                size="small"
                aria-label={`${t("action.change")} ${user.display_name}`}
                onClick={() => onEdit(user)}
              >
                {t("action.change")}
              </Button>
            ),
        },
      ]}
    />
  );
}

type Wanted = {
  name?: string | undefined;
  role?: (typeof PLATFORM_ROLES)[number] | undefined;
  state?: string | undefined;
};
function pick(users: User[], wanted: Wanted, locale: "en" | "zh-CN"): User[] {
  const text = (wanted.name ?? "").toLowerCase();
  return users
    .filter(
      (user) =>
        (!text || `${user.username} ${user.display_name} ${user.email ?? ""}`.toLowerCase().includes(text)) &&
        (!wanted.role || user.platform_roles.includes(wanted.role)) &&
        (!wanted.state || user.state === wanted.state),
    )
    .sort((a, b) => compareNames(a.display_name, b.display_name, locale));
}

const CSV: Column<User>[] = [
  { head: "id", cell: (user) => user.id },
  { head: "username", cell: (user) => user.username },
  { head: "display_name", cell: (user) => user.display_name },
  { head: "email", cell: (user) => user.email },
  { head: "state", cell: (user) => user.state },
  { head: "platform_roles", cell: (user) => user.platform_roles.join(" ") },
  {
    head: "memberships",
    cell: (user) => user.memberships.map((one) => `${one.team.slug}:${one.role}`).join(" "),
  },
  { head: "created_at", cell: (user) => user.created_at },
];
