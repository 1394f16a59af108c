import { useQueryClient } from "@tanstack/react-query";
import { Form, Input, InputNumber, Select } from "antd";
import { createReservation } from "../../api/calendar";
import { usePools, useTeams } from "../../components/choose";
import { FormPanel } from "../../components/form-panel";
import { MomentInput } from "../../components/moment-input";
import { compareNames } from "../../lib/format";
import { localText, momentOf, nextQuarter } from "../../lib/moment";
import { useText } from "../../lib/use-text";
import { useSpanRules } from "./span-rules";

type Values = { pool: string; team: string; gpus: number; starts_at: string; ends_at: string; note: string };
type Props = { pool: string | undefined; team: string | undefined; onClose: () => void };

/** Keeps GPUs of a pool for a team for a while. It gives space, not quota, and evicts nobody. */
export function ReservationForm({ pool, team, onClose }: Props) {
  const { t, locale } = useText();
  const client = useQueryClient();
  const pools = usePools();
  const teams = useTeams();
  const rules = useSpanRules();
  const start = nextQuarter(Date.now());
  const save = async (values: Values, key: string) => {
    const { pool: slug, team: of, gpus, note } = values;
    const starts_at = momentOf(values.starts_at) ?? "";
    const ends_at = momentOf(values.ends_at) ?? "";
    await createReservation({ pool: slug, team: of, gpus, note, starts_at, ends_at }, key);
    await client.invalidateQueries({ queryKey: ["reservations"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={t("calendar.reserve")}
      okText={t("calendar.reserve")}
      initial={{
        ...(pool && { pool }),
        ...(team && { team }),
        gpus: 8,
        starts_at: localText(start),
        ends_at: localText(start + 4 * 3_600_000),
        note: "",
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("calendar.reserve_text")}</p>
      <div className="form-row">
        <Form.Item<Values> name="team" label={t("field.team")} rules={[required]}>
          <Select
            showSearch={{ optionFilterProp: "label" }}
            options={(teams.data ?? [])
              .map((one) => ({ value: one.slug, label: one.name }))
              .sort((a, b) => compareNames(a.label, b.label, locale))}
          />
        </Form.Item>
        <Form.Item<Values> name="pool" label={t("field.pool")} rules={[required]}>
          <Select options={(pools.data ?? []).map((one) => ({ value: one.slug, label: one.slug }))} />
        </Form.Item>
        <Form.Item<Values> name="gpus" label={t("field.gpus")} rules={[required]}>
          <InputNumber min={1} precision={0} />
        </Form.Item>
      </div>
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
