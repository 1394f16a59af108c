import { useQuery } from "@tanstack/react-query";
import { Form, type FormRule, Input, InputNumber, Select } from "antd";
import { listQueues } from "../../api/operations";
import { KINDS, PRIORITY_CLASSES } from "../../api/views";
import { useTeams } from "../../components/choose";
import { splitCommand } from "../../lib/command-line";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import type { FormValues } from "./spec";

const MOST_GPUS = 1024;

export function MainFields({ team }: { team: string | undefined }) {
  const { t, word } = useText();
  const me = useMe();
  const teams = useTeams();
  const queues = useQuery({
    queryKey: ["queues", "team", team ?? ""],
    queryFn: () => listQueues(team ? { team } : {}),
    enabled: !!team,
  });
  const mine = new Set(
    me.data?.memberships
      .filter((one) => one.role === "member" || one.role === "lead")
      .map((one) => one.team.id),
  );
  const required = { required: true, message: t("form.required") };
  const needsCpu: FormRule = ({ getFieldValue }) => ({
    validator: (_, value: number | null) =>
      value === 0 && !getFieldValue("cpu_milli")
        ? Promise.reject(new Error(t("submit.needs_cpu")))
        : Promise.resolve(),
  });
  return (
    <>
      <Form.Item<FormValues> name="name" label={t("field.name")} rules={[{ ...required, whitespace: true }]}>
        <Input autoFocus maxLength={200} />
      </Form.Item>
      <div className="row">
        <Form.Item<FormValues> name="team" label={t("field.team")} rules={[required]}>
          <Select
            showSearch={{ optionFilterProp: "label" }}
            options={(teams.data ?? [])
              .filter((one) => isAdmin(me.data) || mine.has(one.id))
              .map((one) => ({ value: one.slug, label: one.name }))}
            notFoundContent={t("submit.no_team")}
          />
        </Form.Item>
        <Form.Item<FormValues> name="queue" label={t("field.queue")}>
          <Select
            allowClear
            placeholder={t("submit.default_queue")}
            options={(queues.data ?? [])
              .filter((queue) => queue.team.slug === team)
              .map((queue) => ({
                value: queue.slug,
                label: queue.name,
                disabled: queue.state === "draining",
              }))}
          />
        </Form.Item>
      </div>
      <div className="row">
        <Form.Item<FormValues> name="kind" label={t("field.kind")} rules={[required]}>
          <Select options={KINDS.map((value) => ({ value, label: word("kind", value) }))} />
        </Form.Item>
        <Form.Item<FormValues> name="priority" label={t("field.priority")}>
          <Select
            allowClear
            placeholder={t("submit.default_priority")}
            options={PRIORITY_CLASSES.map((value) => ({ value, label: word("priority", value) }))}
          />
        </Form.Item>
        <Form.Item<FormValues>
          name="gpus"
          label={t("submit.gpus")}
          dependencies={["cpu_milli"]}
          rules={[required, needsCpu]}
        >
          <InputNumber min={0} max={MOST_GPUS} precision={0} />
        </Form.Item>
        <Form.Item<FormValues> name="replicas" label={t("submit.replicas")}>
          <InputNumber min={1} max={10000} precision={0} />
        </Form.Item>
      </div>
      <Form.Item<FormValues>
        name="command"
        label={t("field.command")}
        extra={t("submit.command_help")}
        rules={[
          { ...required, whitespace: true },
          {
            validator: (_, value: string | undefined) =>
              splitCommand(value ?? "").open
                ? Promise.reject(new Error(t("submit.open_quote")))
                : Promise.resolve(),
          },
        ]}
      >
        <Input.TextArea rows={3} className="code" spellCheck={false} />
      </Form.Item>
    </>
  );
}
