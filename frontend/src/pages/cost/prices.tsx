import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button, Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { listPriceVersions, type Price, type PriceBook, putPrices, showPrices } from "../../api/money";
import { PRIORITY_CLASSES } from "../../api/views";
import { usePools } from "../../components/choose";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { Page, Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { CostMenu } from "./cost-menu";

const SHARES = ["guaranteed", "loan", "idle", "lent"] as const;

/** What a GPU-hour costs from which day on, by pool, share and class; who changed it when. */
export function PricesPage() {
  const { t, n, locale } = useText();
  const me = useMe();
  const [editing, setEditing] = useState(false);
  const prices = useQuery({ queryKey: ["prices"], queryFn: showPrices });
  const mayEdit = isAdmin(me.data) || (me.data?.platform_roles.includes("finance") ?? false);
  return (
    <Page
      title={t("cost_menu.prices")}
      actions={
        mayEdit &&
        prices.data && (
          <Button type="primary" onClick={() => setEditing(true)}>
            {t("price.edit")}
          </Button>
        )
      }
    >
      <CostMenu />
      {editing && prices.data && (
        <PriceForm key={prices.data.version} book={prices.data} onClose={() => setEditing(false)} />
      )}
      <Section
        title={t("price.in_force")}
        extra={<CsvButton name="reeve-prices" columns={CSV} rows={() => prices.data?.prices ?? []} />}
      >
        <Answer of={prices}>
          {(book) => (
            <>
              <p className="quiet">
                {t("price.version", { version: n(book.version), currency: book.currency })}{" "}
                {book.created_by && t("event.by", { who: book.created_by.display_name })}{" "}
                {book.created_at && <When at={book.created_at} />}
              </p>
              <PriceTable prices={book.prices} />
            </>
          )}
        </Answer>
      </Section>
      <Section title={t("policy.versions")}>
        <PagedTable<PriceBook>
          label={t("policy.versions")}
          queryKey={["prices", "versions"]}
          load={listPriceVersions}
          rowKey={(row) => String(row.version)}
          empty={<Nothing why={t("price.none")} next={t("price.none_next")} />}
          columns={[
            { key: "version", head: t("policy.version"), number: true, cell: (row) => n(row.version) },
            { key: "who", head: t("field.user"), cell: (row) => row.created_by?.display_name ?? "–" },
            { key: "at", head: t("field.time"), cell: (row) => <When at={row.created_at} /> },
            {
              key: "prices",
              head: t("price.in_force"),
              wide: true,
              cell: (row) =>
                row.prices
                  .map((one) => `${one.pool} ${t(`share.${one.share}`)} ${one.price_per_gpu_hour}`)
                  .sort(new Intl.Collator(locale).compare)
                  .join(" · ") || "–",
            },
          ]}
        />
      </Section>
    </Page>
  );
}

function PriceTable({ prices }: { prices: readonly Price[] }) {
  const { t, word } = useText();
  if (prices.length === 0) return <Nothing why={t("price.none")} next={t("price.none_next")} />;
  return (
    <DataTable
      label={t("price.in_force")}
      rows={[...prices]}
      rowKey={(row) => JSON.stringify([row.pool, row.share, row.priority_class, row.valid_from])}
      columns={[
        { key: "pool", head: t("field.pool"), cell: (row) => row.pool },
        { key: "share", head: t("statement.share"), cell: (row) => word("share", row.share) },
        {
          key: "class",
          head: t("field.priority"),
          wide: true,
          cell: (row) =>
            row.priority_class ? word("priority", row.priority_class) : t("budget.every_class"),
        },
        { key: "from", head: t("price.valid_from"), cell: (row) => row.valid_from },
        { key: "price", head: t("price.per_hour"), number: true, cell: (row) => row.price_per_gpu_hour },
      ]}
    />
  );
}

type Entry = {
  pool: string;
  share: Price["share"];
  priority_class?: Price["priority_class"];
  valid_from: string;
  price_per_gpu_hour: string;
};
type Values = { currency: string; prices: Entry[] };

/** The whole book at once: rows are added, changed and taken away, and saved as one new version. */
function PriceForm({ book, onClose }: { book: PriceBook; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const pools = usePools();
  const save = async (values: Values) => {
    const prices = values.prices.map((row) => ({
      ...row,
      priority_class: row.priority_class ?? null,
      price_per_gpu_hour: String(row.price_per_gpu_hour),
    }));
    client.setQueryData(["prices"], await putPrices(book.version, { currency: values.currency, prices }));
    await client.invalidateQueries({ queryKey: ["prices"] });
    void client.invalidateQueries({ queryKey: ["usage"] });
    void client.invalidateQueries({ queryKey: ["statements"] });
    onClose();
  };
  const required = { required: true, message: t("form.required") };
  const today = new Date().toISOString().slice(0, 10);
  return (
    <FormPanel<Values>
      title={t("price.edit")}
      okText={t("action.save")}
      initial={{
        currency: book.currency || "CNY",
        prices: book.prices.map((row) => ({ ...row })),
      }}
      onSubmit={save}
      onClose={onClose}
    >
      <p className="quiet">{t("price.edit_text")}</p>
      <Form.Item<Values>
        name="currency"
        label={t("price.currency")}
        rules={[{ required: true, pattern: /^[A-Z]{3}$/, message: t("price.currency_rule") }]}
      >
        <Input maxLength={3} />
      </Form.Item>
      <Form.List name="prices">
        {(rows, { add, remove }) => (
          <>
            {rows.map((row, at) => (
              <fieldset className="kind-fields" key={row.key}>
                <legend>{t("price.row", { number: at + 1 })}</legend>
                <div className="form-row">
                  <Form.Item name={[row.name, "pool"]} label={t("field.pool")} rules={[required]}>
                    <Select
                      options={(pools.data ?? []).map((pool) => ({ value: pool.slug, label: pool.slug }))}
                    />
                  </Form.Item>
                  <Form.Item name={[row.name, "share"]} label={t("statement.share")} rules={[required]}>
                    <Select options={SHARES.map((value) => ({ value, label: word("share", value) }))} />
                  </Form.Item>
                  <Form.Item name={[row.name, "priority_class"]} label={t("field.priority")}>
                    <Select
                      allowClear
                      placeholder={t("budget.every_class")}
                      options={PRIORITY_CLASSES.map((value) => ({ value, label: word("priority", value) }))}
                    />
                  </Form.Item>
                  <Form.Item name={[row.name, "valid_from"]} label={t("price.valid_from")} rules={[required]}>
                    <Input type="date" />
                  </Form.Item>
                  <Form.Item
                    name={[row.name, "price_per_gpu_hour"]}
                    label={t("price.per_hour")}
                    rules={[required]}
                  >
                    <InputNumber<string> min="0" stringMode precision={6} />
                  </Form.Item>
                  <Form.Item label={t("nodes.actions")}>
                    <Button
                      aria-label={`${t("action.delete")} ${t("price.row", { number: at + 1 })}`}
                      onClick={() => remove(row.name)}
                    >
                      {t("action.delete")}
                    </Button>
                  </Form.Item>
                </div>
              </fieldset>
            ))}
            <Button
              className="more"
              onClick={() => add({ pool: pools.data?.[0]?.slug, share: "guaranteed", valid_from: today })}
            >
              {t("price.add")}
            </Button>
          </>
        )}
      </Form.List>
      <br />
    </FormPanel>
  );
}

const CSV: Column<Price>[] = [
  { head: "pool", cell: (row) => row.pool },
  { head: "share", cell: (row) => row.share },
  { head: "priority_class", cell: (row) => row.priority_class },
  { head: "valid_from", cell: (row) => row.valid_from },
  { head: "price_per_gpu_hour", cell: (row) => row.price_per_gpu_hour },
];
