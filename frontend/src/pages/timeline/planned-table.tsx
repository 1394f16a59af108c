import { Link } from "@tanstack/react-router";
import type { PlannedStart } from "../../api/views";
import { Nothing } from "../../components/feedback";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { MaskedJob } from "./masked-job";

/** Who starts next, where, and on what that rests; also those whose moment is not known. */
export function PlannedTable({ starts }: { starts: PlannedStart[] }) {
  const { t, n, word, sentence } = useText();
  if (starts.length === 0)
    return <Nothing why={t("timeline.planned_none")} next={t("timeline.planned_none_next")} />;
  return (
    <DataTable
      label={t("timeline.planned")}
      maxHeight
      rows={starts}
      rowKey={(start) => `${start.job.id ?? start.job.team.id}/${start.starts_at}/${start.gpus}`}
      columns={[
        { key: "job", head: t("field.job"), cell: (start) => <MaskedJob job={start.job} /> },
        { key: "team", head: t("field.team"), cell: (start) => start.job.team.name },
        { key: "kind", head: t("field.kind"), cell: (start) => word("kind", start.kind) },
        { key: "gpus", head: t("field.gpus"), number: true, cell: (start) => n(start.gpus) },
        {
          key: "at",
          head: t("timeline.starts"),
          cell: (start) =>
            start.starts_at ? <When at={start.starts_at} /> : <span>{t("timeline.unknown")}</span>,
        },
        {
          key: "where",
          head: t("field.node"),
          cell: (start) =>
            start.members.length === 0
              ? t("timeline.place_open")
              : [...new Set(start.members.map((member) => member.node.name))].slice(0, 4).join(" "),
        },
        {
          key: "why",
          head: t("timeline.basis"),
          wide: true,
          cell: (start) => (
            <>
              {sentence(start.sentence)}{" "}
              {start.reclaim_id && (
                <Link to="/reclaims/$id" params={{ id: start.reclaim_id }}>
                  {t("verdict.step_reclaims")}
                </Link>
              )}
            </>
          ),
        },
      ]}
    />
  );
}
