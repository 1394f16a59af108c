import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { type Budget, createBudget, deleteBudget, editBudget, listBudgets } from "../../api/money";
import { PRIORITY_CLASSES, type PriorityClass } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { ChooseTeam, ChooseWord, useTeams } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { AlertIcon, CheckIcon } from "../../components/icons";
import { ButtonLink } from "../../components/links";
import { Page } from "../../components/page";
import { DataTable } from "../../components/table";
import { Mark } from "../../components/tags";
import { Until } from "../../components/when";
import { COST_UNITS } from "../../lib/cost-bars";
import type { Column } from "../../lib/csv";
import { formatHours, formatMoney } from "../../lib/money";
import { useText } from "../../lib/use-text";
import { CostMenu } from "./cost-menu";

export const BUDGET_STATES = ["ok", "near", "exceeded"] as const;
const ACTIONS = ["warn", "approval", "block"] as const;

/** What each team may spend a month, how much of it is gone, and where it is heading. */
export function BudgetsPage() {
  const { t } = useText();
  const search = useSearch({ from: "/cost/budgets" });
  const navigate = useNavigate({ from: "/cost/budgets" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const [open, setOpen] = useState<Budget | "new" | null>(null);
  const filter = { team: search.team, state: search.state };
  const budgets = useQuery({
    queryKey: ["budgets", JSON.stringify(filter)],
    queryFn: () => listBudgets(filter),
  });
  const filtered = Boolean(search.team || search.state);
  return (
    <Page
      title={t("cost_menu.budgets")}
      actions={
        <Button type="primary" onClick={() => setOpen("new")}>
          {t("budget.new")}
        </Button>
      }
    >
      <CostMenu />
      {open && (
        <BudgetForm
          key={open === "new" ? "new" : open.id}
          budget={open === "new" ? null : open}
          onClose={() => setOpen(null)}
        />
      )}
      <div className="filters">
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <ChooseWord
          label={t("field.state")}
          group="budget_state"
          values={BUDGET_STATES}
          value={search.state}
          onChange={(state) => set({ state: state as (typeof BUDGET_STATES)[number] })}
        />
        <CsvButton name="reeve-budgets" columns={CSV} rows={() => budgets.data ?? []} />
      </div>
      <Answer of={budgets}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing
              why={t(filtered ? "budget.none_match" : "budget.none")}
              next={
                filtered ? <Link to="/cost/budgets">{t("action.clear_filters")}</Link> : t("budget.none_next")
              }
            />
          ) : (
            <BudgetTable rows={rows} onEdit={setOpen} />
          )
        }
      </Answer>
    </Page>
  );
}

function BudgetTable({ rows, onEdit }: { rows: Budget[]; onEdit: (budget: Budget) => void }) {
  const { t, n, word, locale } = useText();
  const client = useQueryClient();
  const amount = (budget: Budget, text: string) =>
    budget.unit === "money" ? formatMoney(text, null, locale) : formatHours(text, locale);
  const remove = async (budget: Budget) => {
    await deleteBudget(budget);
    await client.invalidateQueries({ queryKey: ["budgets"] });
  };
  return (
    <DataTable
      label={t("cost_menu.budgets")}
      rows={rows}
      rowKey={(row) => row.id}
      columns={[
        { key: "team", head: t("field.team"), cell: (row) => <strong>{row.team.name}</strong> },
        {
          key: "class",
          head: t("field.priority"),
          cell: (row) =>
            row.priority_class ? word("priority", row.priority_class) : t("budget.every_class"),
        },
        { key: "unit", head: t("budget.unit"), cell: (row) => word("cost_unit", row.unit) },
        { key: "amount", head: t("budget.amount"), number: true, cell: (row) => amount(row, row.amount) },
        {
          key: "extra",
          head: t("budget.extra"),
          number: true,
          cell: (row) =>
            row.extra_until ? (
              <>
                {row.extra == null ? t("budget.no_limit") : `+ ${amount(row, row.extra)}`}{" "}
                <span className="quiet">
                  {t("approval.ends")} <Until to={row.extra_until} />
                </span>
              </>
            ) : (
              "–"
            ),
        },
        {
          key: "used",
          head: t("budget.used"),
          wide: true,
          cell: (row) => (
            <>
              <progress
                max={100}
                value={Math.min(100, row.percent)}
                aria-label={t("budget.used_of", { team: row.team.name })}
              />{" "}
              {amount(row, row.used)} ({n(row.percent)} %)
            </>
          ),
        },
        {
          key: "forecast",
          head: t("cost.forecast"),
          number: true,
          cell: (row) => (row.forecast ? amount(row, row.forecast) : "–"),
        },
        {
          key: "state",
          head: t("field.state"),
          cell: (row) => (
            <Mark
              tone={row.state === "ok" ? "good" : row.state === "near" ? "borrowed" : "bad"}
              icon={row.state === "ok" ? <CheckIcon /> : <AlertIcon />}
            >
              {word("budget_state", row.state)}
            </Mark>
          ),
        },
        { key: "action", head: t("budget.action"), cell: (row) => word("budget_action", row.action) },
        {
          key: "acts",
          head: t("nodes.actions"),
          cell: (row) => (
            <span className="button-row">
              <Button
                size="small"
                aria-label={`${t("action.change")} ${row.team.name}`}
                onClick={() => onEdit(row)}
              >
                {t("action.change")}
              </Button>
              <ButtonLink
                size="small"
                aria-label={`${t("budget.ask_exception")} ${row.team.name}`}
                to="/approvals/new"
                search={{ asks_for: "budget", team: row.team.slug, budget: row.id }}
              >
                {t("budget.ask_exception")}
              </ButtonLink>
              <ActButton
                label={t("action.delete")}
                of={row.team.name}
                ask={t("budget.ask_delete", { team: row.team.name })}
                run={() => remove(row)}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

type Values = {
  team: string;
  priority_class?: PriorityClass | undefined;
  unit: Budget["unit"];
  amount: string;
  action: Budget["action"];
  note: string;
};
function BudgetForm({ budget, onClose }: { budget: Budget | null; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const save = async (values: Values, key: string) => {
    const { amount, action, note } = values;
    if (budget) await editBudget(budget, { amount: String(amount), action, note });
    else
      await createBudget(
        { ...values, amount: String(amount), priority_class: values.priority_class ?? null },
        key,
      );
    await client.invalidateQueries({ queryKey: ["budgets"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={budget ? t("budget.change", { team: budget.team.name }) : t("budget.new")}
      okText={t("action.save")}
      initial={{
        ...(budget && { team: budget.team.slug }),
        priority_class: (budget?.priority_class ?? undefined) as PriorityClass | undefined,
        unit: budget?.unit ?? "gpu_hours",
        amount: budget?.amount ?? "1000",
        action: budget?.action ?? "warn",
        note: budget?.note ?? "",
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!budget && (
          <>
            <Form.Item<Values> name="team" label={t("field.team")} rules={[required]}>
              <Select
                showSearch={{ optionFilterProp: "label" }}
                options={(teams.data ?? []).map((team) => ({ value: team.slug, label: team.name }))}
              />
            </Form.Item>
            <Form.Item<Values> name="priority_class" label={t("field.priority")}>
              <Select
                allowClear
                placeholder={t("budget.every_class")}
                options={PRIORITY_CLASSES.map((value) => ({ value, label: word("priority", value) }))}
              />
            </Form.Item>
            <Form.Item<Values> name="unit" label={t("budget.unit")} rules={[required]}>
              <Select options={COST_UNITS.map((value) => ({ value, label: word("cost_unit", value) }))} />
            </Form.Item>
          </>
        )}
        <Form.Item<Values> name="amount" label={t("budget.amount")} rules={[required]}>
          <InputNumber<string> min="0" stringMode />
        </Form.Item>
        <Form.Item<Values> name="action" label={t("budget.action")} rules={[required]}>
          <Select options={ACTIONS.map((value) => ({ value, label: word("budget_action", value) }))} />
        </Form.Item>
        <Form.Item<Values> name="note" label={t("calendar.note")}>
          <Input maxLength={500} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}

const CSV: Column<Budget>[] = [
  { head: "id", cell: (row) => row.id },
  { head: "team", cell: (row) => row.team.slug },
  { head: "priority_class", cell: (row) => row.priority_class },
  { head: "unit", cell: (row) => row.unit },
  { head: "amount", cell: (row) => row.amount },
  { head: "extra", cell: (row) => row.extra },
  { head: "extra_until", cell: (row) => row.extra_until },
  { head: "used", cell: (row) => row.used },
  { head: "forecast", cell: (row) => row.forecast },
  { head: "percent", cell: (row) => row.percent },
  { head: "state", cell: (row) => row.state },
  { head: "action", cell: (row) => row.action },
  { head: "month", cell: (row) => row.month },
];
