import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { ASKS, ESCALATION_STATES, type Escalation, listApprovals, listEscalations } from "../api/approvals";
import { ChooseTeam, ChooseWord } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Nothing } from "../components/feedback";
import { ButtonLink } from "../components/links";
import { Page } from "../components/page";
import { PagedTable } from "../components/paged-table";
import { Since, Until } from "../components/when";
import { allPages, type Column } from "../lib/csv";
import { forWhom, termsText } from "../lib/terms";
import { useText } from "../lib/use-text";
import { EscalationMark } from "./approvals/escalation-mark";

/** What waits for the reader's decision, by age; and every request with what became of it. */
export function ApprovalsPage() {
  const { t } = useText();
  const search = useSearch({ from: "/approvals" });
  const navigate = useNavigate({ from: "/approvals" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const all = search.view === "all";
  return (
    <Page
      title={t("nav.approvals")}
      actions={
        <ButtonLink to="/approvals/new" primary>
          {t("approval.ask")}
        </ButtonLink>
      }
    >
      <fieldset className="state-tabs">
        <legend className="hidden">{t("approval.which")}</legend>
        <button type="button" aria-pressed={!all} onClick={() => set({ view: undefined })}>
          {t("approval.inbox")}
        </button>
        <button type="button" aria-pressed={all} onClick={() => set({ view: "all" })}>
          {t("approval.all")}
        </button>
      </fieldset>
      {all ? <Requests /> : <Inbox />}
    </Page>
  );
}

function Inbox() {
  const { t } = useText();
  return (
    <PagedTable
      label={t("approval.inbox")}
      queryKey={["approvals"]}
      refetchMs={30_000}
      load={listApprovals}
      rowKey={(row) => row.escalation.id}
      empty={<Nothing why={t("approval.inbox_none")} next={t("approval.inbox_none_next")} />}
      columns={[
        {
          key: "waits",
          head: t("approval.waits_for"),
          cell: (row) => (
            <Link to="/approvals/$id" params={{ id: row.escalation.id }}>
              {t(`approval_waits.${row.waits_for}`)}
            </Link>
          ),
        },
        ...useColumns().map((column) => ({
          ...column,
          cell: (row: { escalation: Escalation }) => column.cell(row.escalation),
        })),
      ]}
    />
  );
}

function Requests() {
  const { t } = useText();
  const search = useSearch({ from: "/approvals" });
  const navigate = useNavigate({ from: "/approvals" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const filter = {
    ...(search.state && { state: [search.state] }),
    team: search.team,
    asks_for: search.asks_for,
    job: search.job,
    ...(search.mine && { mine: true }),
  };
  const columns = useColumns();
  const filtered = Boolean(search.state || search.team || search.asks_for || search.mine || search.job);
  return (
    <>
      <div className="filters">
        <ChooseWord
          label={t("field.state")}
          group="escalation_state"
          values={ESCALATION_STATES}
          value={search.state}
          onChange={(state) => set({ state: state as (typeof ESCALATION_STATES)[number] })}
        />
        <ChooseWord
          label={t("approval.asks_for")}
          group="asks_for"
          values={ASKS}
          value={search.asks_for}
          onChange={(asks_for) => set({ asks_for: asks_for as (typeof ASKS)[number] })}
        />
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <Button
          aria-pressed={search.mine === "yes"}
          onClick={() => set({ mine: search.mine ? undefined : "yes" })}
        >
          {t("approval.mine")}
        </Button>
        {search.job && <Button onClick={() => set({ job: undefined })}>{t("approval.one_job")}</Button>}
        <CsvButton
          name="reeve-approvals"
          columns={CSV}
          rows={(onProgress) => allPages((cursor) => listEscalations(filter, cursor), onProgress)}
        />
      </div>
      <PagedTable
        label={t("approval.all")}
        queryKey={["escalations", JSON.stringify(filter)]}
        load={(cursor) => listEscalations(filter, cursor)}
        rowKey={(row) => row.id}
        empty={
          <Nothing
            why={t(filtered ? "approval.none_match" : "approval.none")}
            next={
              filtered ? (
                <Link to="/approvals" search={{ view: "all" }}>
                  {t("action.clear_filters")}
                </Link>
              ) : (
                t("approval.none_next")
              )
            }
          />
        }
        columns={[
          {
            key: "what",
            head: t("approval.asks_for"),
            cell: (row) => (
              <Link to="/approvals/$id" params={{ id: row.id }}>
                {t(`asks_for.${row.asks_for}`)}
              </Link>
            ),
          },
          ...columns,
          { key: "state", head: t("field.state"), cell: (row) => <EscalationMark one={row} /> },
        ]}
      />
    </>
  );
}

/** What both lists say of a request. */
function useColumns() {
  const text = useText();
  const { t, n } = text;
  return [
    { key: "who", head: t("approval.for_whom"), cell: (row: Escalation) => forWhom(row, text) },
    { key: "terms", head: t("approval.terms"), cell: (row: Escalation) => termsText(row.granted, text) },
    { key: "by", head: t("approval.by"), cell: (row: Escalation) => row.requested_by.display_name },
    { key: "age", head: t("approval.age"), cell: (row: Escalation) => <Since from={row.requested_at} /> },
    {
      key: "step",
      head: t("approval.step"),
      cell: (row: Escalation) =>
        row.step == null ? "–" : t("approval.step_of", { step: n(row.step), steps: n(row.steps.length) }),
    },
    {
      key: "until",
      head: t("approval.decide_by"),
      cell: (row: Escalation) =>
        row.review && !row.review.reviewed_at && row.review.due_at ? (
          <Until to={row.review.due_at} />
        ) : row.decide_by ? (
          <Until to={row.decide_by} />
        ) : (
          "–"
        ),
    },
    {
      key: "cost",
      head: t("approval.cost"),
      number: true,
      cell: (row: Escalation) => n(row.cost_gpu_hours, 1),
    },
  ];
}

const CSV: Column<Escalation>[] = [
  { head: "id", cell: (row) => row.id },
  { head: "asks_for", cell: (row) => row.asks_for },
  { head: "state", cell: (row) => row.state },
  { head: "team", cell: (row) => row.team.slug },
  { head: "job", cell: (row) => row.job?.name },
  { head: "pool", cell: (row) => row.pool?.slug },
  { head: "scope", cell: (row) => row.scope },
  { head: "level_asked", cell: (row) => row.asked.level },
  { head: "level_granted", cell: (row) => row.granted.level },
  { head: "duration_secs_asked", cell: (row) => row.asked.duration_secs },
  { head: "duration_secs_granted", cell: (row) => row.granted.duration_secs },
  { head: "reason", cell: (row) => row.reason },
  { head: "requested_by", cell: (row) => row.requested_by.username },
  { head: "requested_at", cell: (row) => row.requested_at },
  { head: "activated_at", cell: (row) => row.activated_at },
  { head: "expires_at", cell: (row) => row.expires_at },
  { head: "ended_at", cell: (row) => row.ended_at },
  { head: "ended_by", cell: (row) => row.ended_by?.username },
  { head: "cost_gpu_hours", cell: (row) => row.cost_gpu_hours },
];
