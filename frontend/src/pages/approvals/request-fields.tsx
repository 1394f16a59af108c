import { useQuery } from "@tanstack/react-query";
import { Checkbox, Form, Input, InputNumber, Radio, Select } from "antd";
import { ASKS } from "../../api/approvals";
import { listBudgets } from "../../api/money";
import { listQueues } from "../../api/operations";
import { KINDS, PRIORITY_CLASSES } from "../../api/views";
import { usePools, useTeams } from "../../components/choose";
import { MomentInput } from "../../components/moment-input";
import { compareNames } from "../../lib/format";
import type { RequestValues } from "../../lib/request";
import { useText } from "../../lib/use-text";

/** The fields of each kind of request. */
export function RequestFields({ values, ofJob }: { values: RequestValues | undefined; ofJob: boolean }) {
  const { t, word, locale } = useText();
  const teams = useTeams();
  const asks = values?.asks_for ?? "priority";
  const required = { required: true, message: t("form.required") };
  const oneJob = ofJob && (asks === "priority" || asks === "never_evict");
  return (
    <>
      <Form.Item<RequestValues> name="asks_for" label={t("approval.asks_for")}>
        <Radio.Group
          options={ASKS.filter((value) => ofJob || value !== "never_evict").map((value) => ({
            value,
            label: word("asks_for", value),
          }))}
        />
      </Form.Item>
      <p className="quiet">{t(`asks_about.${asks}`)}</p>
      <div className="form-row">
        {!oneJob && (
          <Form.Item<RequestValues> name="team" label={t("field.team")} rules={[required]}>
            <Select
              showSearch={{ optionFilterProp: "label" }}
              options={(teams.data ?? [])
                .map((team) => ({ value: team.slug, label: team.name }))
                .sort((a, b) => compareNames(a.label, b.label, locale))}
            />
          </Form.Item>
        )}
        {asks === "priority" && <PriorityFields team={values?.team} ofJob={oneJob} />}
        {asks === "quota" && <QuotaFields />}
        {asks === "budget" && <BudgetFields named={!!values?.budget} />}
      </div>
      <div className="form-row">
        <Form.Item<RequestValues>
          name="minutes"
          label={t("approval.minutes")}
          extra={asks === "quota" ? t("approval.empty_for_good") : undefined}
          rules={asks === "quota" ? [] : [required]}
        >
          <InputNumber min={1} />
        </Form.Item>
        <Form.Item<RequestValues>
          name="starts_at"
          label={t("approval.starts")}
          extra={t("approval.empty_at_once")}
        >
          <MomentInput />
        </Form.Item>
      </div>
      <Form.Item<RequestValues>
        name="reason"
        label={t("approval.reason")}
        extra={t("approval.reason_text")}
        rules={[{ ...required, whitespace: true }]}
      >
        <Input.TextArea rows={3} maxLength={2000} />
      </Form.Item>
      {asks === "priority" && (
        <Form.Item<RequestValues> name="break_glass" valuePropName="checked">
          <Checkbox>{t("approval.break_glass_text")}</Checkbox>
        </Form.Item>
      )}
    </>
  );
}

function PriorityFields({ team, ofJob }: { team: string | undefined; ofJob: boolean }) {
  const { t, word } = useText();
  const queues = useQuery({
    queryKey: ["queues", "team", team ?? ""],
    queryFn: () => listQueues(team ? { team } : {}),
    enabled: !!team && !ofJob,
  });
  return (
    <>
      <Form.Item<RequestValues>
        name="level"
        label={t("approval.level")}
        rules={[{ required: true, message: t("form.required") }]}
      >
        <Select options={PRIORITY_CLASSES.map((value) => ({ value, label: word("priority", value) }))} />
      </Form.Item>
      <Form.Item<RequestValues> name="scope" label={t("approval.scope")}>
        <Select
          options={["team", "platform"].map((value) => ({ value, label: word("escalation_scope", value) }))}
        />
      </Form.Item>
      {!ofJob && (
        <>
          <Form.Item<RequestValues> name="queue" label={t("approval.only_queue")}>
            <Select
              allowClear
              placeholder={t("approval.any_queue")}
              options={(queues.data ?? [])
                .filter((queue) => queue.team.slug === team)
                .map((queue) => ({ value: queue.slug, label: queue.name }))}
            />
          </Form.Item>
          <Form.Item<RequestValues> name="kinds" label={t("approval.only_kinds")}>
            <Select
              mode="multiple"
              placeholder={t("queue.all_kinds")}
              options={KINDS.map((value) => ({ value, label: word("kind", value) }))}
            />
          </Form.Item>
        </>
      )}
    </>
  );
}

/** Which budget, and how much more. The refusal of a submission may name one that the reader does not see in the list. */
function BudgetFields({ named }: { named: boolean }) {
  const text = useText();
  const { t, word } = text;
  const required = { required: true, message: t("form.required") };
  const budgets = useQuery({ queryKey: ["budgets", "{}"], queryFn: () => listBudgets({}) });
  return (
    <>
      <Form.Item<RequestValues> name="budget" label={t("budget.which")}>
        <Select
          allowClear
          showSearch={{ optionFilterProp: "label" }}
          placeholder={t("budget.of_high_priority")}
          options={(budgets.data ?? []).map((budget) => ({
            value: budget.id,
            label: [
              budget.team.name,
              budget.priority_class ? word("priority", budget.priority_class) : t("budget.every_class"),
              word("cost_unit", budget.unit),
            ].join(" · "),
          }))}
        />
      </Form.Item>
      {named ? (
        <Form.Item<RequestValues> name="amount" label={t("approval_amount.amount")} rules={[required]}>
          <InputNumber<string> min="0.000001" stringMode />
        </Form.Item>
      ) : (
        <Form.Item<RequestValues> name="gpu_hours" label={t("approval_amount.gpu_hours")} rules={[required]}>
          <InputNumber min={1} precision={0} />
        </Form.Item>
      )}
    </>
  );
}

function QuotaFields() {
  const { t } = useText();
  const pools = usePools();
  const required = { required: true, message: t("form.required") };
  return (
    <>
      <Form.Item<RequestValues> name="pool" label={t("field.pool")} rules={[required]}>
        <Select options={(pools.data ?? []).map((pool) => ({ value: pool.slug, label: pool.slug }))} />
      </Form.Item>
      <Form.Item<RequestValues>
        name="guaranteed_gpus"
        label={t("approval_amount.guaranteed_gpus")}
        rules={[required]}
      >
        <InputNumber min={0} precision={0} />
      </Form.Item>
      <Form.Item<RequestValues> name="borrow_limit_gpus" label={t("approval_amount.borrow_limit_gpus")}>
        <InputNumber min={0} precision={0} placeholder={t("approval.as_it_is")} />
      </Form.Item>
    </>
  );
}
