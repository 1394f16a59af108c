import { Checkbox, Form, type FormRule, Input, InputNumber, Select } from "antd";
import { CHECKPOINT_MODES } from "../../api/views";
import { usePools } from "../../components/choose";
import { parsePairs } from "../../lib/command-line";
import { useText } from "../../lib/use-text";
import type { FormValues } from "./spec";

const SIGNALS = ["USR1", "USR2", "HUP", "INT", "TERM", "QUIT", "ALRM", "CONT"];
const CHECKS = ["preemptible", "evict_others", "requeue", "nvlink_required", "rdma", "hold"] as const;
const NUMBERS = [
  "min_replicas",
  "max_replicas",
  "gpu_milli",
  "gpu_memory_mib",
  "cpu_milli",
  "memory_mib",
] as const;
const ENDS = ["min_replicas", "max_replicas"] as const;
const MOST: Partial<Record<(typeof NUMBERS)[number], number>> = {
  min_replicas: 10000,
  max_replicas: 10000,
  gpu_milli: 999,
};

/** What most jobs leave as it is. */
export function MoreFields({ open, onOpen }: { open: boolean; onOpen: (open: boolean) => void }) {
  const { t, word } = useText();
  const pools = usePools();
  const models = [...new Set((pools.data ?? []).map((pool) => pool.gpu_model))];
  const pairs = {
    validator: (_: unknown, value: string | undefined) => {
      const { bad } = parsePairs(value ?? "");
      return bad ? Promise.reject(new Error(t("submit.bad_pair", { line: bad }))) : Promise.resolve();
    },
  };
  /** An elastic job has both ends, in order. */
  const bothEnds =
    (name: (typeof ENDS)[number]): FormRule =>
    ({ getFieldValue }) => ({
      validator: (_, value: number | null | undefined) => {
        const other: number | null | undefined = getFieldValue(
          name === "min_replicas" ? "max_replicas" : "min_replicas",
        );
        if (!value && other) return Promise.reject(new Error(t("submit.both_ends")));
        if (name === "max_replicas" && value && other && value < other)
          return Promise.reject(new Error(t("submit.order_ends")));
        return Promise.resolve();
      },
    });
  return (
    <details className="more-fields" open={open} onToggle={(event) => onOpen(event.currentTarget.open)}>
      <summary>{t("submit.more")}</summary>
      <div className="row">
        <Form.Item<FormValues> name="pools" label={t("submit.pools")}>
          <Select
            mode="multiple"
            placeholder={t("submit.any_pool")}
            options={(pools.data ?? []).map((pool) => ({ value: pool.slug, label: pool.slug }))}
          />
        </Form.Item>
        <Form.Item<FormValues> name="gpu_model" label={t("submit.gpu_model")}>
          <Input placeholder={models.join(t("quota.separator"))} />
        </Form.Item>
        <Form.Item<FormValues> name="time_limit_minutes" label={t("submit.time_limit_minutes")}>
          <InputNumber min={1} precision={0} />
        </Form.Item>
      </div>
      <div className="row">
        {NUMBERS.map((name) => (
          <Form.Item<FormValues>
            key={name}
            name={name}
            label={t(`submit.${name}`)}
            dependencies={ENDS.filter((end) => end !== name && ENDS.some((one) => one === name))}
            rules={name === "min_replicas" || name === "max_replicas" ? [bothEnds(name)] : []}
          >
            <InputNumber min={1} max={MOST[name] ?? Number.MAX_SAFE_INTEGER} precision={0} />
          </Form.Item>
        ))}
      </div>
      <div className="row">
        <Form.Item<FormValues> name="checkpoint" label={t("submit.checkpoint")}>
          <Select
            allowClear
            placeholder={t("submit.default_checkpoint")}
            options={CHECKPOINT_MODES.map((value) => ({ value, label: word("checkpoint", value) }))}
          />
        </Form.Item>
        <Form.Item<FormValues> name="checkpoint_signal" label={t("submit.checkpoint_signal")}>
          <Select allowClear placeholder="USR1" options={SIGNALS.map((value) => ({ value, label: value }))} />
        </Form.Item>
        <Form.Item<FormValues> name="max_failures" label={t("submit.max_failures")}>
          <InputNumber min={0} max={100} precision={0} />
        </Form.Item>
      </div>
      <div className="row">
        <Form.Item<FormValues> name="require_topology" label={t("submit.require_topology")}>
          <Input />
        </Form.Item>
        <Form.Item<FormValues> name="prefer_topology" label={t("submit.prefer_topology")}>
          <Input />
        </Form.Item>
        <Form.Item<FormValues>
          name="working_dir"
          label={t("submit.working_dir")}
          rules={[{ pattern: /^\//, message: t("submit.absolute") }]}
        >
          <Input className="code" />
        </Form.Item>
      </div>
      <div className="row">
        {(["env", "labels", "node_labels"] as const).map((name) => (
          <Form.Item<FormValues> key={name} name={name} label={t(`submit.${name}`)} rules={[pairs]}>
            <Input.TextArea rows={3} className="code" spellCheck={false} />
          </Form.Item>
        ))}
      </div>
      <div className="checks">
        {CHECKS.map((name) => (
          <Form.Item<FormValues> key={name} name={name} valuePropName="checked" noStyle>
            <Checkbox>{t(`submit.${name}`)}</Checkbox>
          </Form.Item>
        ))}
      </div>
    </details>
  );
}
