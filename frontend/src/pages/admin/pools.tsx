import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Form, Input } from "antd";
import { useState } from "react";
import { createPool, deletePool, editPool } from "../../api/admin";
import type { Pool } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { usePools } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { Page, Section } from "../../components/page";
import { DataTable } from "../../components/table";
import type { Column } from "../../lib/csv";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { AdminMenu } from "./admin-menu";
import { JoinTokens } from "./join-tokens";

/** Pools of GPUs, and the tokens with which machines join them. */
export function PoolsPage() {
  const { t, n } = useText();
  const me = useMe();
  const client = useQueryClient();
  const pools = usePools();
  const [open, setOpen] = useState<Pool | "new" | null>(null);
  const admin = isAdmin(me.data);
  const remove = async (pool: Pool) => {
    await deletePool(pool.id);
    await client.invalidateQueries({ queryKey: ["pools"] });
  };
  const count = (pool: Pool) =>
    pool.nodes.ready + pool.nodes.cordoned + pool.nodes.draining + pool.nodes.lost;
  return (
    <Page
      title={t("admin.pools")}
      actions={
        admin && (
          <Button type="primary" onClick={() => setOpen("new")}>
            {t("pools.new")}
          </Button>
        )
      }
    >
      <AdminMenu />
      {open && (
        <PoolForm
          key={open === "new" ? "new" : open.id}
          pool={open === "new" ? null : open}
          onClose={() => setOpen(null)}
        />
      )}
      <Section
        title={t("admin.pools")}
        extra={<CsvButton name="reeve-pools" columns={CSV} rows={() => pools.data ?? []} />}
      >
        <Answer of={pools}>
          {(rows) =>
            rows.length === 0 ? (
              <Nothing why={t("overview.no_pool")} next={t("overview.no_pool_next")} />
            ) : (
              <DataTable
                label={t("admin.pools")}
                rows={rows}
                rowKey={(pool) => pool.id}
                columns={[
                  {
                    key: "name",
                    head: t("field.name"),
                    wide: true,
                    cell: (pool) => (
                      <>
                        <span className="name">{pool.name}</span> <span className="quiet">{pool.slug}</span>
                      </>
                    ),
                  },
                  {
                    key: "model",
                    head: t("submit.gpu_model"),
                    cell: (pool) => pool.gpu_model ?? t("pools.any_model"),
                  },
                  {
                    key: "gpus",
                    head: t("field.gpus"),
                    number: true,
                    cell: (pool) => n(pool.capacity.gpus),
                  },
                  {
                    key: "guaranteed",
                    head: t("quotas.guaranteed_gpus"),
                    number: true,
                    cell: (pool) => n(pool.guaranteed_gpus),
                  },
                  {
                    key: "nodes",
                    head: t("nav.nodes"),
                    number: true,
                    cell: (pool) => (
                      <Link to="/nodes" search={{ pool: pool.slug }}>
                        {n(count(pool))}
                      </Link>
                    ),
                  },
                  {
                    key: "acts",
                    head: t("nodes.actions"),
                    cell: (pool) =>
                      admin && (
                        <span className="button-row">
                          <Button
                            size="small"
                            aria-label={`${t("action.change")} ${pool.slug}`}
                            onClick={() => setOpen(pool)}
                          >
                            {t("action.change")}
                          </Button>
                          <ActButton
                            label={t("action.delete")}
                            of={pool.slug}
                            ask={t("pools.ask_delete", { pool: pool.slug })}
                            text={t("pools.delete_text")}
                            run={() => remove(pool)}
                          />
                        </span>
                      ),
                  },
                ]}
              />
            )
          }
        </Answer>
      </Section>
      <JoinTokens mayEdit={admin} />
    </Page>
  );
}

type Values = { slug: string; name: string; gpu_model: string };
function PoolForm({ pool, onClose }: { pool: Pool | null; onClose: () => void }) {
  const { t } = useText();
  const client = useQueryClient();
  const save = async ({ slug, name, gpu_model }: Values, key: string) => {
    const body = { name, gpu_model: gpu_model.trim() || null };
    if (pool) await editPool(pool, body);
    else await createPool({ slug, ...body }, key);
    await client.invalidateQueries({ queryKey: ["pools"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={pool ? t("pools.change", { pool: pool.slug }) : t("pools.new")}
      okText={t(pool ? "action.save" : "pools.create")}
      initial={{ slug: "", name: pool?.name ?? "", gpu_model: pool?.gpu_model ?? "" }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        {!pool && (
          <Form.Item<Values> name="slug" label={t("field.slug")} extra={t("form.slug")} rules={[required]}>
            <Input autoComplete="off" maxLength={64} />
          </Form.Item>
        )}
        <Form.Item<Values> name="name" label={t("field.name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item<Values> name="gpu_model" label={t("submit.gpu_model")}>
          <Input maxLength={100} placeholder={t("pools.any_model")} />
        </Form.Item>
      </div>
    </FormPanel>
  );
}

const CSV: Column<Pool>[] = [
  { head: "id", cell: (pool) => pool.id },
  { head: "slug", cell: (pool) => pool.slug },
  { head: "name", cell: (pool) => pool.name },
  { head: "gpu_model", cell: (pool) => pool.gpu_model },
  { head: "mode", cell: (pool) => pool.mode },
  { head: "gpus", cell: (pool) => pool.capacity.gpus },
  { head: "usable_gpus", cell: (pool) => pool.capacity.usable_gpus },
  { head: "guaranteed_gpus", cell: (pool) => pool.guaranteed_gpus },
];
