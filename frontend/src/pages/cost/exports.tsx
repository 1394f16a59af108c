import { useQueryClient } from "@tanstack/react-query";
import { Button, Checkbox, Form, Radio, Select } from "antd";
import { useState } from "react";
import { cancelOperation, createOperation, listOperations, type Operation } from "../../api/money";
import { ActButton } from "../../components/act-button";
import { useTeams } from "../../components/choose";
import { Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { Page } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { When } from "../../components/when";
import { daysOf, monthOf } from "../../lib/money";
import { useText } from "../../lib/use-text";
import { CostMenu } from "./cost-menu";
import { MonthChoice } from "./month-choice";
import { OperationStrip } from "./operation-strip";

/** Exports for finance, made by the server while one does something else; they are still here after a reload. */
export function ExportsPage() {
  const { t, word } = useText();
  const client = useQueryClient();
  const [making, setMaking] = useState(false);
  const cancel = async (one: Operation) => {
    await cancelOperation(one.id);
    await client.invalidateQueries({ queryKey: ["operations"] });
  };
  const text = (of: unknown, name: string) => {
    const value = (of as Record<string, unknown> | null)?.[name];
    return typeof value === "string" ? value : "";
  };
  return (
    <Page
      title={t("cost_menu.exports")}
      actions={
        <Button type="primary" onClick={() => setMaking(true)}>
          {t("export.new")}
        </Button>
      }
    >
      <CostMenu />
      {making && <ExportForm onClose={() => setMaking(false)} />}
      <PagedTable<Operation>
        label={t("cost_menu.exports")}
        queryKey={["operations"]}
        refetchMs={2_000}
        load={listOperations}
        rowKey={(row) => row.id}
        empty={<Nothing why={t("export.none")} next={t("export.none_next")} />}
        columns={[
          {
            key: "what",
            head: t("export.what"),
            cell: (row) => (
              <>
                <strong>{word("export_format", text(row.params, "format"))}</strong>{" "}
                {word("export_content", text(row.params, "content"))}
                <div className="quiet">
                  {text(row.params, "month") ||
                    [text(row.params, "from"), text(row.params, "to")].filter(Boolean).join(" – ")}{" "}
                  {text(row.params, "team")}
                </div>
              </>
            ),
          },
          { key: "state", head: t("field.state"), wide: true, cell: (row) => <OperationStrip one={row} /> },
          { key: "by", head: t("field.user"), cell: (row) => row.created_by.display_name },
          { key: "at", head: t("field.time"), cell: (row) => <When at={row.created_at} /> },
          {
            key: "acts",
            head: t("nodes.actions"),
            cell: (row) =>
              row.result ? (
                <Button size="small" href={row.result.href} download={row.result.file_name}>
                  {t("logs.download")}
                </Button>
              ) : row.state === "queued" || row.state === "running" ? (
                <ActButton
                  label={t("act.cancel")}
                  of={text(row.params, "format")}
                  danger={false}
                  run={() => cancel(row)}
                />
              ) : null,
          },
        ]}
      />
    </Page>
  );
}

const FORMATS = ["csv", "jsonl", "xlsx", "focus"] as const;
const CONTENTS = ["statement", "intervals"] as const;
type Values = {
  format: (typeof FORMATS)[number];
  content: (typeof CONTENTS)[number];
  month: string;
  team?: string;
  bom: boolean;
};
function ExportForm({ onClose }: { onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const teams = useTeams();
  const [form] = Form.useForm<Values>();
  const content = Form.useWatch("content", form) ?? "statement";
  const save = async (values: Values, key: string) => {
    const span = values.content === "statement" ? { month: values.month } : daysOf(values.month);
    await createOperation(
      {
        kind: "usage_export",
        format: values.format,
        content: values.content,
        ...span,
        ...(values.team && { team: values.team }),
        ...(values.bom && { bom: true }),
      },
      key,
    );
    await client.invalidateQueries({ queryKey: ["operations"] });
    onClose();
  };
  return (
    <FormPanel<Values>
      form={form}
      title={t("export.new")}
      okText={t("export.start")}
      initial={{ format: "csv", content: "statement", month: monthOf(Date.now()), bom: true }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="content" label={t("export.what")} extra={t(`export_about.${content}`)}>
          <Radio.Group options={CONTENTS.map((value) => ({ value, label: word("export_content", value) }))} />
        </Form.Item>
        <Form.Item<Values> name="format" label={t("export.format")}>
          <Select options={FORMATS.map((value) => ({ value, label: word("export_format", value) }))} />
        </Form.Item>
        <Form.Item<Values> noStyle shouldUpdate>
          {({ getFieldValue, setFieldValue }) => (
            <MonthChoice value={getFieldValue("month")} onChange={(month) => setFieldValue("month", month)} />
          )}
        </Form.Item>
        <Form.Item<Values> name="team" label={t("field.team")}>
          <Select
            allowClear
            placeholder={t("export.all_teams")}
            showSearch={{ optionFilterProp: "label" }}
            options={(teams.data ?? []).map((team) => ({ value: team.slug, label: team.name }))}
          />
        </Form.Item>
      </div>
      <Form.Item<Values> name="month" hidden>
        <input type="hidden" />
      </Form.Item>
      <Form.Item<Values> name="bom" valuePropName="checked">
        <Checkbox>{t("export.bom")}</Checkbox>
      </Form.Item>
    </FormPanel>
  );
}
