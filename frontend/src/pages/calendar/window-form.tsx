import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Form, Input, Radio, Select } from "antd";
import { createWindow } from "../../api/calendar";
import { listNodes } from "../../api/operations";
import { usePools } from "../../components/choose";
import { FormPanel } from "../../components/form-panel";
import { MomentInput } from "../../components/moment-input";
import { parsePairs } from "../../lib/command-line";
import { compareNames } from "../../lib/format";
import { localText, momentOf, nextQuarter } from "../../lib/moment";
import { useText } from "../../lib/use-text";
import { useSpanRules } from "./span-rules";

type Values = {
  by: "nodes" | "pool";
  nodes: string[];
  pool?: string;
  labels: string;
  starts_at: string;
  ends_at: string;
  note: string;
};

/** Takes nodes out of use for a while: some by name, or a pool's, or those of it with certain labels. */
export function WindowForm({ pool, onClose }: { pool: string | undefined; onClose: () => void }) {
  const { t, locale } = useText();
  const client = useQueryClient();
  const pools = usePools();
  const [form] = Form.useForm<Values>();
  const by = Form.useWatch("by", form) ?? "nodes";
  const nodes = useQuery({
    queryKey: ["nodes", pool ?? "", ""],
    queryFn: () => listNodes({ pool }),
    staleTime: 30_000,
  });
  const rules = useSpanRules();
  const start = nextQuarter(Date.now());
  const save = async (values: Values, key: string) => {
    const span = {
      starts_at: momentOf(values.starts_at) ?? "",
      ends_at: momentOf(values.ends_at) ?? "",
      note: values.note,
    };
    const { pairs } = parsePairs(values.labels ?? "");
    const which =
      values.by === "nodes" ? { nodes: values.nodes } : { pool: values.pool ?? null, labels: pairs };
    await createWindow({ ...which, ...span }, key);
    await client.invalidateQueries({ queryKey: ["maintenance-windows"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      form={form}
      title={t("calendar.plan_window")}
      okText={t("calendar.plan_window")}
      initial={{
        by: "nodes",
        nodes: [],
        ...(pool && { pool }),
        labels: "",
        starts_at: localText(start),
        ends_at: localText(start + 2 * 3_600_000),
        note: "",
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("calendar.window_text")}</p>
      <Form.Item<Values> name="by" label={t("calendar.which_nodes")}>
        <Radio.Group
          options={[
            { value: "nodes", label: t("calendar.by_name") },
            { value: "pool", label: t("calendar.by_pool") },
          ]}
        />
      </Form.Item>
      {by === "nodes" ? (
        <Form.Item<Values> name="nodes" label={t("nav.nodes")} rules={[required]}>
          <Select
            mode="multiple"
            showSearch={{ optionFilterProp: "label" }}
            options={(nodes.data ?? [])
              .map((node) => ({ value: node.name, label: node.name }))
              .sort((a, b) => compareNames(a.label, b.label, locale))}
          />
        </Form.Item>
      ) : (
        <div className="form-row">
          <Form.Item<Values> name="pool" label={t("field.pool")} rules={[required]}>
            <Select options={(pools.data ?? []).map((one) => ({ value: one.slug, label: one.slug }))} />
          </Form.Item>
          <Form.Item<Values> name="labels" label={t("calendar.with_labels")}>
            <Input.TextArea rows={2} className="code" spellCheck={false} />
          </Form.Item>
        </div>
      )}
      <div className="form-row">
        <Form.Item<Values> name="starts_at" label={t("calendar.begins")} rules={[required]}>
          <MomentInput />
        </Form.Item>
        <Form.Item<Values>
          name="ends_at"
          label={t("calendar.ends")}
          dependencies={["starts_at"]}
          rules={[required, rules.after]}
        >
          <MomentInput />
        </Form.Item>
        <Form.Item<Values> name="note" label={t("calendar.note")}>
          <Input maxLength={500} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}
