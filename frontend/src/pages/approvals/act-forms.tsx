import { Form, Input, InputNumber, Radio } from "antd";
import type { components } from "../../api/schema";
import { FormPanel } from "../../components/form-panel";
import { useText } from "../../lib/use-text";

type Schemas = components["schemas"];

type CommentProps = {
  act: "deny" | "revoke" | "withdraw";
  required?: boolean;
  danger?: boolean;
  onClose: () => void;
  send: (comment: string, key: string) => Promise<unknown>;
};
/** A no, an end, a withdrawal: with what its reader ought to know. */
export function CommentForm({ act, required = false, danger = false, onClose, send }: CommentProps) {
  const { t } = useText();
  return (
    <FormPanel<{ comment: string }>
      title={t(`approval_act.${act}`)}
      okText={t(`approval_act.${act}`)}
      danger={danger}
      initial={{ comment: "" }}
      onSubmit={({ comment }, key) => send(comment.trim(), key)}
      onClose={onClose}
    >
      <p className="quiet">{t(`approval_about.${act}`)}</p>
      <Form.Item
        name="comment"
        label={t("approval.comment")}
        rules={[{ required, whitespace: required, message: t("form.required") }]}
      >
        <Input.TextArea rows={3} maxLength={2000} />
      </Form.Item>
    </FormPanel>
  );
}

type DelegateProps = {
  onClose: () => void;
  send: (body: Schemas["Delegate"], key: string) => Promise<unknown>;
};
/** Hands the step that waits to one more person. */
export function DelegateForm({ onClose, send }: DelegateProps) {
  const { t } = useText();
  return (
    <FormPanel<{ to: string; comment: string }>
      title={t("approval_act.delegate")}
      okText={t("approval_act.delegate")}
      initial={{ to: "", comment: "" }}
      onSubmit={({ to, comment }, key) => send({ to: to.trim(), comment: comment.trim() || null }, key)}
      onClose={onClose}
    >
      <p className="quiet">{t("approval_about.delegate")}</p>
      <div className="form-row">
        <Form.Item
          name="to"
          label={t("auth.username")}
          rules={[{ required: true, whitespace: true, message: t("form.required") }]}
        >
          <Input autoComplete="off" />
        </Form.Item>
        <Form.Item name="comment" label={t("approval.comment")}>
          <Input maxLength={2000} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}

type ReviewProps = { onClose: () => void; send: (body: Schemas["Review"], key: string) => Promise<unknown> };
/** Looks back at an emergency that nobody had approved. */
export function ReviewForm({ onClose, send }: ReviewProps) {
  const { t, word } = useText();
  return (
    <FormPanel<Schemas["Review"]>
      title={t("approval_act.review")}
      okText={t("approval_act.review")}
      initial={{ outcome: "confirmed", comment: "" }}
      onSubmit={send}
      onClose={onClose}
    >
      <p className="quiet">{t("approval_about.review")}</p>
      <Form.Item name="outcome" label={t("approval.outcome")}>
        <Radio.Group
          options={["confirmed", "objected"].map((value) => ({
            value,
            label: word("review_outcome", value),
          }))}
        />
      </Form.Item>
      <Form.Item
        name="comment"
        label={t("approval.comment")}
        rules={[{ required: true, whitespace: true, message: t("form.required") }]}
      >
        <Input.TextArea rows={3} maxLength={2000} />
      </Form.Item>
    </FormPanel>
  );
}

type RenewProps = { onClose: () => void; send: (body: Schemas["Renew"], key: string) => Promise<unknown> };
/** Asks for it to go on beyond its end: a request like any other. */
export function RenewForm({ onClose, send }: RenewProps) {
  const { t } = useText();
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<{ minutes: number; reason: string }>
      title={t("approval_act.renew")}
      okText={t("approval_act.renew")}
      initial={{ minutes: 60, reason: "" }}
      fieldFor={(name) => (name === "duration_secs" ? "minutes" : name)}
      onSubmit={({ minutes, reason }, key) => send({ duration_secs: Math.round(minutes * 60), reason }, key)}
      onClose={onClose}
    >
      <p className="quiet">{t("approval_about.renew")}</p>
      <div className="form-row">
        <Form.Item name="minutes" label={t("approval.minutes")} rules={[required]}>
          <InputNumber min={1} />
        </Form.Item>
        <Form.Item name="reason" label={t("approval.reason")} rules={[{ ...required, whitespace: true }]}>
          <Input maxLength={2000} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
