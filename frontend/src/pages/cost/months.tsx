import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { newKey } from "../../api/client";
import {
  closeMonth,
  correctMonth,
  listMonths,
  type Month,
  reopenMonth,
  type StatementItem,
  type Statements,
  showStatements,
} from "../../api/money";
import { ActButton } from "../../components/act-button";
import { useTeams } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { CheckIcon, ClockIcon, PlayIcon } from "../../components/icons";
import { Page, Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { DataTable } from "../../components/table";
import { Mark } from "../../components/tags";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { formatHours, formatMoney, monthOf } from "../../lib/money";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { CostMenu } from "./cost-menu";
import { MonthChoice } from "./month-choice";

/** Statements of a month by team; closed by two people, and corrected only by new lines after that. */
export function MonthsPage() {
  const { t } = useText();
  const search = useSearch({ from: "/cost/months" });
  const navigate = useNavigate({ from: "/cost/months" });
  const month = search.month ?? monthOf(Date.now());
  const choose = (next: string) => void navigate({ search: { month: next }, replace: true });
  const statements = useQuery({
    queryKey: ["statements", month],
    queryFn: () => showStatements(month),
  });
  return (
    <Page title={t("cost_menu.months")}>
      <CostMenu />
      <div className="filters">
        <MonthChoice value={month} onChange={choose} />
        <CsvButton
          name={`reeve-statements-${month}`}
          columns={CSV}
          rows={() => statements.data?.items ?? []}
        />
      </div>
      <Answer of={statements}>{(data) => <OfMonth statements={data} />}</Answer>
      <Months onChoose={choose} />
    </Page>
  );
}

const mayClose = (roles: readonly string[] | undefined) =>
  (roles ?? []).some((role) => role === "admin" || role === "finance");

function OfMonth({ statements }: { statements: Statements }) {
  const { t, locale, word } = useText();
  const client = useQueryClient();
  const me = useMe();
  const [correcting, setCorrecting] = useState(false);
  const { month, state, digest, proposed_by } = statements;
  const closes = mayClose(me.data?.platform_roles) || isAdmin(me.data);
  const own = proposed_by?.id === me.data?.id;
  const again = async () => {
    await client.invalidateQueries({ queryKey: ["statements"] });
    void client.invalidateQueries({ queryKey: ["months"] });
  };
  return (
    <>
      {correcting && <CorrectionForm month={month} onClose={() => setCorrecting(false)} onDone={again} />}
      <Section
        title={t("month.title", { month })}
        extra={
          closes && (
            <span className="button-row">
              {state !== "closed" && digest && (
                <ActButton
                  label={t(state === "open" ? "month.propose" : "month.close")}
                  of={month}
                  ask={t(state === "open" ? "month.ask_propose" : "month.ask_close", { month })}
                  text={t("month.close_text")}
                  danger={false}
                  disabled={state === "proposed" && own}
                  run={async () => {
                    await closeMonth(month, digest, newKey());
                    await again();
                  }}
                />
              )}
              {state === "proposed" && (
                <ActButton
                  label={t("month.reopen")}
                  of={month}
                  danger={false}
                  run={async () => {
                    await reopenMonth(month, newKey());
                    await again();
                  }}
                />
              )}
              {state === "closed" && (
                <Button size="small" onClick={() => setCorrecting(true)}>
                  {t("month.correct")}
                </Button>
              )}
            </span>
          )
        }
      >
        <p>
          <MonthMark state={state} />{" "}
          {state !== "open" && proposed_by && (
            <>
              {t("month.proposed_by", { name: proposed_by.display_name })}{" "}
              <When at={statements.proposed_at} />
            </>
          )}{" "}
          {state === "closed" && statements.closed_by && (
            <>
              {t("month.closed_by", { name: statements.closed_by.display_name })}{" "}
              <When at={statements.closed_at} />
            </>
          )}
          {state === "proposed" && own && <span className="quiet">{t("month.other_person")}</span>}
        </p>
        {statements.unpriced && <p className="bad-text">{t("month.unpriced")}</p>}
        {statements.items.length === 0 ? (
          <Nothing why={t("month.none")} next={t("cost.none_next")} />
        ) : (
          <DataTable
            label={t("month.title", { month })}
            rows={statements.items}
            rowKey={(row) => row.team?.id ?? ""}
            columns={[
              {
                key: "team",
                head: t("field.team"),
                wide: true,
                cell: (row) =>
                  row.team ? (
                    <Link to="/cost/statements/$month/$team" params={{ month, team: row.team.slug }}>
                      {row.team.name}
                    </Link>
                  ) : (
                    t("cost.nobody")
                  ),
              },
              ...(["guaranteed", "borrowed", "lent", "idle"] as const).map((name) => ({
                key: name,
                head: t(`usage_hours.${name}`),
                number: true,
                cell: (row: StatementItem) => formatHours(row[`${name}_gpu_hours`], locale),
              })),
              {
                key: "corrections",
                head: t("month.corrections"),
                number: true,
                cell: (row) => formatMoney(row.corrections, statements.currency, locale),
              },
              {
                key: "total",
                head: t("month.total"),
                number: true,
                cell: (row) => <strong>{formatMoney(row.total, statements.currency, locale)}</strong>,
              },
            ]}
          />
        )}
        <p className="verdict">
          {t("month.sum", {
            total: formatMoney(statements.total, statements.currency, locale),
            state: word("statement_state", state),
          })}
        </p>
      </Section>
    </>
  );
}

const MARKS = {
  open: ["lent", PlayIcon],
  proposed: ["pending", ClockIcon],
  closed: ["good", CheckIcon],
} as const;
export function MonthMark({ state }: { state: Statements["state"] }) {
  const { word } = useText();
  const [tone, Icon] = MARKS[state as keyof typeof MARKS] ?? ["free", ClockIcon];
  return (
    <Mark tone={tone} icon={<Icon />}>
      {word("statement_state", state)}
    </Mark>
  );
}

function Months({ onChoose }: { onChoose: (month: string) => void }) {
  const { t, locale } = useText();
  return (
    <Section title={t("month.all")}>
      <PagedTable<Month>
        label={t("month.all")}
        queryKey={["months"]}
        load={listMonths}
        rowKey={(row) => row.month}
        empty={<Nothing why={t("month.no_months")} next={t("month.no_months_next")} />}
        columns={[
          {
            key: "month",
            head: t("cost.month"),
            cell: (row) => (
              <Button size="small" onClick={() => onChoose(row.month)}>
                {row.month}
              </Button>
            ),
          },
          {
            key: "state",
            head: t("field.state"),
            wide: true,
            cell: (row) => <MonthMark state={row.state} />,
          },
          { key: "by", head: t("month.closed"), cell: (row) => row.closed_by?.display_name ?? "–" },
          { key: "at", head: t("field.time"), cell: (row) => <When at={row.closed_at} /> },
          {
            key: "total",
            head: t("month.total"),
            number: true,
            cell: (row) => formatMoney(row.total, row.currency, locale),
          },
        ]}
      />
    </Section>
  );
}

type CorrectionValues = { team: string; amount: string; reason: string };
type CorrectionProps = { month: string; onClose: () => void; onDone: () => Promise<void> };
function CorrectionForm({ month, onClose, onDone }: CorrectionProps) {
  const { t } = useText();
  const teams = useTeams();
  const save = async (values: CorrectionValues, key: string) => {
    await correctMonth(month, { ...values, amount: String(values.amount) }, key);
    await onDone();
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<CorrectionValues>
      title={t("month.correct_title", { month })}
      okText={t("month.correct")}
      initial={{ reason: "" }}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("month.correct_text")}</p>
      <div className="form-row">
        <Form.Item<CorrectionValues> name="team" label={t("field.team")} rules={[required]}>
          <Select
            showSearch={{ optionFilterProp: "label" }}
            options={(teams.data ?? []).map((team) => ({ value: team.slug, label: team.name }))}
          />
        </Form.Item>
        <Form.Item<CorrectionValues> name="amount" label={t("budget.amount")} rules={[required]}>
          <InputNumber<string> stringMode precision={2} />
        </Form.Item>
        <Form.Item<CorrectionValues>
          name="reason"
          label={t("approval.reason")}
          rules={[{ ...required, whitespace: true }]}
        >
          <Input maxLength={500} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}

const CSV: Column<StatementItem>[] = [
  { head: "team", cell: (row) => row.team?.slug },
  { head: "guaranteed_gpu_hours", cell: (row) => row.guaranteed_gpu_hours },
  { head: "borrowed_gpu_hours", cell: (row) => row.borrowed_gpu_hours },
  { head: "lent_gpu_hours", cell: (row) => row.lent_gpu_hours },
  { head: "idle_gpu_hours", cell: (row) => row.idle_gpu_hours },
  { head: "guaranteed_cost", cell: (row) => row.guaranteed_cost },
  { head: "borrowed_cost", cell: (row) => row.borrowed_cost },
  { head: "lent_credit", cell: (row) => row.lent_credit },
  { head: "idle_cost", cell: (row) => row.idle_cost },
  { head: "corrections", cell: (row) => row.corrections },
  { head: "total_exact", cell: (row) => row.total_exact },
  { head: "total", cell: (row) => row.total },
];
