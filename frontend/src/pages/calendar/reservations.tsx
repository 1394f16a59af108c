import { type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { deleteReservation, type Reservation } from "../../api/calendar";
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

/** Whose GPUs are kept, from when to when. */
export function Reservations({ of, filtered }: { of: UseQueryResult<Reservation[]>; filtered: boolean }) {
  const { t, n } = useText();
  const me = useMe();
  const client = useQueryClient();
  const withdraw = async (one: Reservation) => {
    await deleteReservation(one.id);
    await client.invalidateQueries({ queryKey: ["reservations"] });
  };
  return (
    <Section
      title={t("calendar.reservations")}
      extra={<CsvButton name="reeve-reservations" columns={CSV} rows={() => of.data ?? []} />}
    >
      <Answer of={of}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing
              why={t(filtered ? "calendar.none_match" : "calendar.no_reservations")}
              next={
                filtered ? (
                  <Link to="/calendar">{t("action.clear_filters")}</Link>
                ) : (
                  t("calendar.no_reservations_next")
                )
              }
            />
          ) : (
            <DataTable
              label={t("calendar.reservations")}
              rows={rows}
              rowKey={(row) => row.id}
              columns={[
                { key: "team", head: t("field.team"), cell: (row) => <strong>{row.team.name}</strong> },
                { key: "gpus", head: t("field.gpus"), number: true, cell: (row) => n(row.gpus) },
                { key: "pool", head: t("field.pool"), cell: (row) => row.pool.slug },
                { key: "state", head: t("field.state"), cell: (row) => <SlotMark slot={row} /> },
                { key: "from", head: t("calendar.begins"), cell: (row) => <When at={row.starts_at} /> },
                { key: "to", head: t("calendar.ends"), cell: (row) => <When at={row.ends_at} /> },
                { key: "note", head: t("calendar.note"), wide: true, cell: (row) => row.note },
                { key: "by", head: t("field.user"), cell: (row) => row.created_by.display_name },
                {
                  key: "acts",
                  head: t("nodes.actions"),
                  cell: (row) =>
                    isAdmin(me.data) && new Date(row.ends_at).getTime() > Date.now() ? (
                      <ActButton
                        label={t("calendar.withdraw")}
                        of={t("calendar.reservation_of", { team: row.team.name })}
                        ask={t("calendar.ask_withdraw", { team: row.team.name, gpus: n(row.gpus) })}
                        text={t("calendar.withdraw_text")}
                        run={() => withdraw(row)}
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

const CSV: Column<Reservation>[] = [
  { head: "id", cell: (row) => row.id },
  { head: "pool", cell: (row) => row.pool.slug },
  { head: "team", cell: (row) => row.team.slug },
  { head: "gpus", cell: (row) => row.gpus },
  { head: "starts_at", cell: (row) => row.starts_at },
  { head: "ends_at", cell: (row) => row.ends_at },
  { head: "note", cell: (row) => row.note },
  { head: "created_by", cell: (row) => row.created_by.username },
  { head: "created_at", cell: (row) => row.created_at },
];
