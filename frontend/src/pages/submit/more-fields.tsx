import { Checkbox, Form, Input, InputNumber, Select } from "antd";
import { usePools } from "../../components/choose";
import { parsePairs } from "../../lib/command-line";
import { useText } from "../../lib/use-text";
import type { FormValues } from "./spec";

const CHECKPOINTS = ["none", "on_signal", "periodic"] as const;
const CHECKS = ["preemptible", "evict_others", "requeue", "rdma", "hold"] as const;
const NUMBERS = [
  "min_replicas",
  "max_replicas",
  "gpu_milli",
  "gpu_memory_mib",
  "cpu_milli",
  "memory_mib",
] as const;
const MOST: Partial<Record<(typeof NUMBERS)[number], number>> = {
  min_replicas: 10000,
  max_replicas: 10000,
  gpu_milli: 999,
};

/** What most jobs leave as it is. */
export function MoreFields({ open }: { open: boolean }) {
  const { t, word } = useText();
  const pools = usePools();
  const models = [...new Set((pools.data ?? []).map((pool) => pool.gpu_model))];
  const pairs = {
    validator: (_: unknown, value: string | undefined) => {
      const { bad } = parsePairs(value ?? "");
      return bad ? Promise.reject(new Error(t("submit.bad_pair", { line: bad }))) : Promise.resolve();
    },
  };
  return (
    <details className="more-fields" open={open}>
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
          <Form.Item<FormValues> key={name} name={name} label={t(`submit.${name}`)}>
            <InputNumber min={1} max={MOST[name] ?? Number.MAX_SAFE_INTEGER} precision={0} />
          </Form.Item>
        ))}
      </div>
      <div className="row">
        <Form.Item<FormValues> name="checkpoint" label={t("submit.checkpoint")}>
          <Select
            allowClear
            placeholder={t("submit.default_checkpoint")}
            options={CHECKPOINTS.map((value) => ({ value, label: word("checkpoint", value) }))}
          />
        </Form.Item>
        <Form.Item<FormValues> name="checkpoint_signal" label={t("submit.checkpoint_signal")}>
          <Input placeholder="USR1" />
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
        <Form.Item<FormValues> name="working_dir" label={t("submit.working_dir")}>
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
