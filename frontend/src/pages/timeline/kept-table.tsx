import type { MaintenanceWindow, Reservation } from "../../api/calendar";
import { Nothing } from "../../components/feedback";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import type { View } from "../../lib/timeline/view";
import { useText } from "../../lib/use-text";

type Props = {
  reservations: readonly Reservation[];
  windows: readonly MaintenanceWindow[];
  view: View;
};

/** The outlines in words: what is reserved, and which nodes are under maintenance in the span. */
export function KeptTable({ reservations, windows, view }: Props) {
  const { t, n } = useText();
  const rows = [
    ...reservations.map((slot) => ({
      slot,
      what: t("timeline.reserved_for", { team: slot.team.name }),
      where: t("timeline.reserved_gpus", { gpus: n(slot.gpus), pool: slot.pool.slug }),
    })),
    ...windows.map((slot) => ({
      slot,
      what: t("timeline.mark.maintenance"),
      where: slot.nodes.map((node) => node.name).join(" "),
    })),
  ]
    .filter(({ slot }) => Date.parse(slot.starts_at) < view.to && Date.parse(slot.ends_at) > view.from)
    .sort((a, b) => a.slot.starts_at.localeCompare(b.slot.starts_at));
  if (rows.length === 0) return <Nothing why={t("timeline.kept_none")} next={t("timeline.kept_none_next")} />;
  return (
    <DataTable
      label={t("timeline.kept")}
      maxHeight
      rows={rows}
      rowKey={({ slot }) => slot.id}
      columns={[
        { key: "what", head: t("timeline.kept_what"), cell: (row) => row.what },
        { key: "where", head: t("timeline.kept_where"), cell: (row) => row.where },
        { key: "from", head: t("calendar.begins"), cell: ({ slot }) => <When at={slot.starts_at} /> },
        { key: "to", head: t("calendar.ends"), cell: ({ slot }) => <When at={slot.ends_at} /> },
        { key: "note", head: t("calendar.note"), wide: true, cell: ({ slot }) => slot.note },
      ]}
    />
  );
}
