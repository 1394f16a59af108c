import { type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { deleteWindow, type MaintenanceWindow } from "../../api/calendar";
import { ActButton } from "../../components/act-button";
import { CsvButton } from "../../components/csv-button";
import { Answer, Nothing } from "../../components/feedback";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import type { Column } from "../../lib/csv";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { SlotMark } from "./slot-mark";

const SHOWN_NODES = 6;

/** Which nodes take no work, from when to when. */
export function Windows({ of, filtered }: { of: UseQueryResult<MaintenanceWindow[]>; filtered: boolean }) {
  const { t } = useText();
  const me = useMe();
  const client = useQueryClient();
  const end = async (one: MaintenanceWindow) => {
    await deleteWindow(one.id);
    await client.invalidateQueries({ queryKey: ["maintenance-windows"] });
  };
  const open = (row: MaintenanceWindow) => new Date(row.starts_at).getTime() <= Date.now();
  return (
    <Section
      title={t("calendar.windows")}
      extra={<CsvButton name="reeve-maintenance" columns={CSV} rows={() => of.data ?? []} />}
    >
      <Answer of={of}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing
              why={t(filtered ? "calendar.none_match" : "calendar.no_windows")}
              next={
                filtered ? (
                  <Link to="/calendar">{t("action.clear_filters")}</Link>
                ) : (
                  t("calendar.no_windows_next")
                )
              }
            />
          ) : (
            <DataTable
              label={t("calendar.windows")}
              rows={rows}
              rowKey={(row) => row.id}
              columns={[
                { key: "nodes", head: t("nav.nodes"), wide: true, cell: (row) => <NodeNames window={row} /> },
                { key: "state", head: t("field.state"), cell: (row) => <SlotMark slot={row} /> },
                { key: "from", head: t("calendar.begins"), cell: (row) => <When at={row.starts_at} /> },
                { key: "to", head: t("calendar.ends"), cell: (row) => <When at={row.ends_at} /> },
                { key: "note", head: t("calendar.note"), cell: (row) => row.note },
                { key: "by", head: t("field.user"), cell: (row) => row.created_by.display_name },
                {
                  key: "acts",
                  head: t("nodes.actions"),
                  cell: (row) =>
                    isAdmin(me.data) && new Date(row.ends_at).getTime() > Date.now() ? (
                      <ActButton
                        label={t(open(row) ? "calendar.end_now" : "calendar.withdraw")}
                        of={row.nodes.map((node) => node.name).join(" ")}
                        ask={t("calendar.ask_end", { count: row.nodes.length })}
                        text={t("calendar.end_text")}
                        run={() => end(row)}
                      />
                    ) : null,
                },
              ]}
            />
          )
        }
      </Answer>
    </Section>
  );
}

function NodeNames({ window }: { window: MaintenanceWindow }) {
  const { t } = useText();
  const more = window.nodes.length - SHOWN_NODES;
  return (
    <>
      {window.nodes.slice(0, SHOWN_NODES).map((node) => (
        <span key={node.id}>
          <Link to="/nodes" search={{ node: node.name }}>
            {node.name}
          </Link>{" "}
        </span>
      ))}
      {more > 0 && t("calendar.more_nodes", { count: more })}
    </>
  );
}

const CSV: Column<MaintenanceWindow>[] = [
  { head: "id", cell: (row) => row.id },
  { head: "nodes", cell: (row) => row.nodes.map((node) => node.name).join(" ") },
  { head: "starts_at", cell: (row) => row.starts_at },
  { head: "ends_at", cell: (row) => row.ends_at },
  { head: "note", cell: (row) => row.note },
  { head: "created_by", cell: (row) => row.created_by.username },
  { head: "created_at", cell: (row) => row.created_at },
];
