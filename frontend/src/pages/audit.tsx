import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Input } from "antd";
import { type AuditEvent, auditExportUrl, listAudit, showAuditStatus } from "../api/audit";
import { ChooseTeam, ChooseWord } from "../components/choose";
import { Nothing } from "../components/feedback";
import { Labelled } from "../components/labelled";
import { MomentInput } from "../components/moment-input";
import { Page } from "../components/page";
import { PagedTable } from "../components/paged-table";
import { When } from "../components/when";
import { localText, momentOf } from "../lib/moment";
import { useText } from "../lib/use-text";
import { Changes } from "./audit/changes";
import { OutcomeOf } from "./audit/outcome-of";
import { VerifiedBadge } from "./audit/verified-badge";

const TEXTS = ["actor", "action", "subject_type", "subject_id", "request_id"] as const;
export const AUDIT_OUTCOMES = ["allowed", "denied"] as const;

/** Who decided what and when; each with what it changed. */
export function AuditPage() {
  const { t } = useText();
  const search = useSearch({ from: "/audit" });
  const status = useQuery({
    queryKey: ["audit", "status"],
    queryFn: showAuditStatus,
    refetchInterval: 30_000,
    retry: false,
  });
  const filter = { ...search };
  const filtered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title={t("nav.audit")}
      extra={status.data && <VerifiedBadge status={status.data} />}
      actions={
        <>
          <Button href={auditExportUrl(filter, "csv")} download>
            {t("audit.csv")}
          </Button>
          <Button href={auditExportUrl(filter, "jsonl")} download>
            {t("audit.jsonl")}
          </Button>
        </>
      }
    >
      <Filters />
      <PagedTable<AuditEvent>
        label={t("nav.audit")}
        queryKey={["audit", "list", JSON.stringify(filter)]}
        load={(cursor) => listAudit(filter, cursor)}
        rowKey={(row) => String(row.position)}
        empty={
          <Nothing
            why={t(filtered ? "audit.none_match" : "audit.none")}
            next={filtered ? <Link to="/audit">{t("action.clear_filters")}</Link> : t("audit.none_next")}
          />
        }
        columns={useColumns()}
      />
    </Page>
  );
}

function useColumns() {
  const { t, n } = useText();
  return [
    {
      key: "position",
      head: t("audit.position"),
      number: true,
      cell: (row: AuditEvent) => (
        <Link to="/audit/$position" params={{ position: String(row.position) }}>
          {n(row.position)}
        </Link>
      ),
    },
    { key: "at", head: t("field.time"), cell: (row: AuditEvent) => <When at={row.occurred_at} /> },
    { key: "who", head: t("audit.actor"), cell: (row: AuditEvent) => row.actor.name || row.actor.type },
    {
      key: "what",
      head: t("audit.action"),
      cell: (row: AuditEvent) => (
        <>
          <code>{row.action}</code> <OutcomeOf event={row} />
        </>
      ),
    },
    {
      key: "subject",
      head: t("audit.subject"),
      cell: (row: AuditEvent) => (
        <>
          {row.subject.type}
          {row.team && <div className="quiet">{row.team.name}</div>}
        </>
      ),
    },
    {
      key: "changes",
      head: t("audit.changes"),
      wide: true,
      cell: (row: AuditEvent) => <Changes event={row} most={4} />,
    },
    { key: "rule", head: t("eviction.rule"), cell: (row: AuditEvent) => row.rule ?? "–" },
  ];
}

function Filters() {
  const { t } = useText();
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <div className="filters">
      {TEXTS.map((name) => (
        <Input
          key={name}
          className="choose"
          aria-label={t(`audit.${name}`)}
          placeholder={t(`audit.${name}`)}
          allowClear
          value={search[name] ?? ""}
          onChange={(event) => set({ [name]: event.target.value || undefined })}
        />
      ))}
      <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
      <ChooseWord
        label={t("audit.outcome")}
        group="audit_outcome"
        values={AUDIT_OUTCOMES}
        value={search.outcome}
        onChange={(outcome) => set({ outcome: outcome as (typeof AUDIT_OUTCOMES)[number] })}
      />
      <Labelled label={t("timeline.from")}>
        <MomentInput
          value={search.from ? localText(Date.parse(search.from)) : ""}
          onChange={(text) => set({ from: momentOf(text) ?? undefined })}
        />
      </Labelled>
      <Labelled label={t("timeline.to")}>
        <MomentInput
          value={search.to ? localText(Date.parse(search.to)) : ""}
          onChange={(text) => set({ to: momentOf(text) ?? undefined })}
        />
      </Labelled>
    </div>
  );
}
