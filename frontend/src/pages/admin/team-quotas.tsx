import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Checkbox, Form, InputNumber, Select } from "antd";
import { useState } from "react";
import { deleteQuota, putQuota } from "../../api/admin";
import { listQuotas } from "../../api/operations";
import type { Quota, Team } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { usePools, useTeams } from "../../components/choose";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { SubHead } from "../../components/page";
import { QuotaBar } from "../../components/quota-bar";
import { DataTable } from "../../components/table";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";

/** What the team is guaranteed in each pool, how much it may borrow and lends. Whoever leads the parent hands it out. */
export function TeamQuotas({ team }: { team: Team }) {
  const { t, n } = useText();
  const me = useMe();
  const client = useQueryClient();
  const teams = useTeams();
  const [open, setOpen] = useState<Quota | "new" | null>(null);
  const quotas = useQuery({
    queryKey: ["quotas", "team", team.id],
    queryFn: () => listQuotas({ team: team.id }),
  });
  const own = (quotas.data ?? []).filter((quota) => quota.team.id === team.id);
  const above = teams.data?.find((one) => one.id === team.parent?.id);
  const mayEdit = isAdmin(me.data) || (above?.my_roles.includes("lead") ?? false);
  const remove = async (quota: Quota) => {
    await deleteQuota(quota);
    await client.invalidateQueries({ queryKey: ["quotas"] });
  };
  const limit = (gpus: number | null | undefined) => (gpus == null ? t("queue.unlimited") : n(gpus));
  return (
    <>
      <SubHead
        title={t("overview.quotas")}
        act={mayEdit && !open ? t("quotas.new") : null}
        onAct={() => setOpen("new")}
      />
      {open && (
        <QuotaForm
          key={open === "new" ? "new" : open.pool.id}
          team={team}
          quota={open === "new" ? null : open}
          taken={own.map((quota) => quota.pool.slug)}
          onClose={() => setOpen(null)}
        />
      )}
      <Answer of={quotas}>
        {() =>
          own.length === 0 ? (
            <Nothing why={t("queue.no_quota")} next={t("queues.none_next")} />
          ) : (
            <DataTable
              label={t("overview.quotas")}
              rows={own}
              rowKey={(quota) => quota.pool.id}
              columns={[
                { key: "pool", head: t("field.pool"), cell: (quota) => quota.pool.slug },
                {
                  key: "bar",
                  head: t("field.quota"),
                  wide: true,
                  cell: (quota) => <QuotaBar quota={quota} />,
                },
                {
                  key: "borrow",
                  head: t("quotas.borrow_limit_gpus"),
                  number: true,
                  cell: (quota) => limit(quota.borrow_limit_gpus),
                },
                {
                  key: "lend",
                  head: t("quotas.lend_limit_gpus"),
                  number: true,
                  cell: (quota) => limit(quota.lend_limit_gpus),
                },
                { key: "weight", head: t("quotas.weight"), number: true, cell: (quota) => n(quota.weight) },
                {
                  key: "acts",
                  head: t("nodes.actions"),
                  cell: (quota) =>
                    mayEdit && (
                      <span className="button-row">
                        <Button
                          size="small"
                          aria-label={`${t("action.change")} ${quota.pool.slug}`}
                          onClick={() => setOpen(quota)}
                        >
                          {t("action.change")}
                        </Button>
                        <ActButton
                          label={t("action.delete")}
                          of={quota.pool.slug}
                          ask={t("quotas.ask_delete", { team: team.name, pool: quota.pool.slug })}
                          text={t("quotas.delete_text")}
                          run={() => remove(quota)}
                        />
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </Answer>
    </>
  );
}

type Values = {
  pool: string;
  guaranteed_gpus: number;
  borrow_limit_gpus?: number | null;
  lend_limit_gpus?: number | null;
  weight: number;
  drain: boolean;
};
type FormProps = { team: Team; quota: Quota | null; taken: string[]; onClose: () => void };
function QuotaForm({ team, quota, taken, onClose }: FormProps) {
  const { t } = useText();
  const client = useQueryClient();
  const pools = usePools();
  const save = async ({ pool, ...values }: Values) => {
    await putQuota(team.id, pool, quota, {
      ...values,
      borrow_limit_gpus: values.borrow_limit_gpus ?? null,
      lend_limit_gpus: values.lend_limit_gpus ?? null,
    });
    await client.invalidateQueries({ queryKey: ["quotas"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={quota ? t("quotas.change", { team: team.name, pool: quota.pool.slug }) : t("quotas.new")}
      okText={t("action.save")}
      initial={{
        ...(quota && { pool: quota.pool.slug }),
        guaranteed_gpus: quota?.guaranteed_gpus ?? 0,
        borrow_limit_gpus: quota?.borrow_limit_gpus ?? null,
        lend_limit_gpus: quota?.lend_limit_gpus ?? null,
        weight: quota?.weight ?? 1,
        drain: quota?.drain ?? false,
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="pool" label={t("field.pool")} rules={[required]}>
          <Select
            disabled={quota !== null}
            options={(pools.data ?? [])
              .filter((pool) => quota !== null || !taken.includes(pool.slug))
              .map((pool) => ({ value: pool.slug, label: pool.slug }))}
          />
        </Form.Item>
        <Form.Item<Values> name="guaranteed_gpus" label={t("quotas.guaranteed_gpus")} rules={[required]}>
          <InputNumber min={0} max={1_000_000} precision={0} />
        </Form.Item>
        <Form.Item<Values> name="borrow_limit_gpus" label={t("quotas.borrow_limit_gpus")}>
          <InputNumber min={0} precision={0} placeholder={t("queue.unlimited")} />
        </Form.Item>
        <Form.Item<Values> name="lend_limit_gpus" label={t("quotas.lend_limit_gpus")}>
          <InputNumber min={0} precision={0} placeholder={t("quotas.all")} />
        </Form.Item>
        <Form.Item<Values> name="weight" label={t("quotas.weight")} rules={[required]}>
          <InputNumber min={0} precision={0} />
        </Form.Item>
      </div>
      <Form.Item<Values> name="drain" valuePropName="checked">
        <Checkbox>{t("quotas.drain")}</Checkbox>
      </Form.Item>
    </FormPanel>
  );
}
