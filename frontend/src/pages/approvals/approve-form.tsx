import { Form, Input, InputNumber, Select } from "antd";
import { approve, type Escalation } from "../../api/approvals";
import { PRIORITY_CLASSES, type PriorityClass } from "../../api/views";
import { FormPanel } from "../../components/form-panel";
import { budgetAmount } from "../../lib/terms";
import { useText } from "../../lib/use-text";

type Values = {
  level?: PriorityClass;
  minutes?: number | null;
  guaranteed_gpus?: number | null;
  borrow_limit_gpus?: number | null;
  gpu_hours?: number | null;
  amount?: string | null;
  comment: string;
};
type Props = { one: Escalation; onClose: () => void; onDone: (after: Escalation) => Promise<void> };

/** A yes to all of it, or to less: a lower level, a shorter time, a smaller amount. Only what was changed is sent. */
export function ApproveForm({ one, onClose, onDone }: Props) {
  const text = useText();
  const { t, word, n } = text;
  const { granted } = one;
  const level = PRIORITY_CLASSES.find((name) => name === granted.level);
  const atMost = level ? PRIORITY_CLASSES.slice(0, PRIORITY_CLASSES.indexOf(level) + 1) : [];
  const minutes = granted.duration_secs == null ? null : granted.duration_secs / 60;
  const save = async (values: Values, key: string) => {
    const body: Parameters<typeof approve>[1] = {};
    if (values.comment.trim()) body.comment = values.comment.trim();
    if (values.level && values.level !== granted.level) body.level = values.level;
    if (values.minutes && values.minutes !== minutes) body.duration_secs = Math.round(values.minutes * 60);
    for (const name of ["guaranteed_gpus", "borrow_limit_gpus", "gpu_hours"] as const) {
      const value = values[name];
      if (value != null && value !== granted[name]) body[name] = value;
    }
    if (values.amount && String(values.amount) !== granted.amount) body.amount = String(values.amount);
    await onDone(await approve(one, body, key));
  };
  const amounts = (["guaranteed_gpus", "borrow_limit_gpus", "gpu_hours"] as const).filter(
    (name) => granted[name] != null,
  );
  return (
    <FormPanel<Values>
      title={t("approval_act.approve")}
      okText={t("approval_act.approve")}
      initial={{
        ...(level && { level }),
        minutes,
        guaranteed_gpus: granted.guaranteed_gpus ?? null,
        borrow_limit_gpus: granted.borrow_limit_gpus ?? null,
        gpu_hours: granted.gpu_hours ?? null,
        amount: granted.amount ?? null,
        comment: "",
      }}
      fieldFor={(name) => (name === "duration_secs" ? "minutes" : name)}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("approval.approve_text")}</p>
      <div className="form-row">
        {level && (
          <Form.Item<Values> name="level" label={t("approval.level")}>
            <Select options={atMost.map((value) => ({ value, label: word("priority", value) }))} />
          </Form.Item>
        )}
        {minutes != null && (
          <Form.Item<Values>
            name="minutes"
            label={t("approval.minutes")}
            extra={t("approval.at_most", { most: n(minutes) })}
          >
            <InputNumber min={1} max={minutes} />
          </Form.Item>
        )}
        {granted.amount != null && (
          <Form.Item<Values>
            name="amount"
            label={t("approval_amount.amount")}
            extra={t("approval.at_most", { most: budgetAmount(granted.amount, one.budget?.unit, text) })}
          >
            <InputNumber<string> min="0.000001" max={granted.amount} stringMode />
          </Form.Item>
        )}
        {amounts.map((name) => (
          <Form.Item<Values>
            key={name}
            name={name}
            label={t(`approval_amount.${name}`)}
            extra={t("approval.at_most", { most: n(granted[name] ?? 0) })}
          >
            <InputNumber min={0} max={granted[name] ?? 0} precision={0} />
          </Form.Item>
        ))}
      </div>
      <Form.Item<Values> name="comment" label={t("approval.comment")}>
        <Input.TextArea rows={2} maxLength={2000} />
      </Form.Item>
    </FormPanel>
  );
}
