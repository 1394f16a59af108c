import { Button, Form, type FormInstance } from "antd";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { newKey } from "../api/client";
import { Problem } from "../api/problem";
import { useText } from "../lib/use-text";
import { ProblemAlert } from "./feedback";
import { Section } from "./page";

type Props<Values> = {
  title: string;
  form?: FormInstance<Values>;
  initial: Partial<Values>;
  okText: string;
  danger?: boolean;
  /** The key stays the same while the same content is sent again, so that a lost reply makes nothing twice. */
  onSubmit: (values: Values, key: string) => Promise<unknown>;
  onClose: () => void;
  /** The form's field for a pointer's first name, where it has another. */
  fieldFor?: (name: string) => string;
  children: ReactNode;
  beside?: ReactNode;
};

/** A form in the page: what the server refuses stands at its field. It takes the focus when it opens. */
export function FormPanel<Values extends object>(props: Props<Values>) {
  const { t } = useText();
  const [own] = Form.useForm<Values>();
  const form = props.form ?? own;
  const box = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const sent = useRef({ content: "", key: "" });
  useEffect(() => {
    const first = box.current?.querySelector<HTMLElement>("input:not([disabled]), textarea, select");
    first?.focus();
    box.current?.scrollIntoView?.({ block: "nearest" });
  }, []);

  const submit = async (values: Values) => {
    const content = JSON.stringify(values);
    if (sent.current.content !== content) sent.current = { content, key: newKey() };
    setBusy(true);
    setError(null);
    try {
      await props.onSubmit(values, sent.current.key);
    } catch (problem) {
      setError(problem);
      if (problem instanceof Problem) showOnFields(form, problem, props.fieldFor);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div ref={box}>
      <Section title={props.title} className="form-panel">
        <Form<Values>
          form={form}
          layout="vertical"
          scrollToFirstError={{ focus: true }}
          initialValues={props.initial}
          onFinish={submit}
          disabled={busy}
        >
          {props.children}
          {error ? <ProblemAlert error={error} /> : null}
          <div className="button-row">
            <Button type="primary" htmlType="submit" danger={props.danger ?? false} loading={busy}>
              {props.okText}
            </Button>
            <Button onClick={props.onClose} disabled={false}>
              {t("action.back")}
            </Button>
          </div>
        </Form>
        {props.beside}
      </Section>
    </div>
  );
}

/** Puts each refusal on the field that its pointer names, and leads to the first. */
function showOnFields<Values>(
  form: FormInstance<Values>,
  problem: Problem,
  fieldFor: (name: string) => string = (name) => name,
) {
  const known = new Set(Object.keys(form.getFieldsValue(true)));
  const fields = (problem.body.errors ?? [])
    .map((one) => ({ name: fieldFor(one.pointer.split("/")[1] ?? ""), errors: [one.detail] }))
    .filter((field) => known.has(field.name));
  form.setFields(fields as unknown as Parameters<typeof form.setFields>[0]);
  const first = fields[0];
  if (first) form.scrollToField(first.name as Parameters<typeof form.scrollToField>[0], { focus: true });
}
