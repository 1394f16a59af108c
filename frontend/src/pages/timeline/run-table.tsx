import { Link } from "@tanstack/react-router";
import type { TimelineRun } from "../../api/views";
import { DataTable } from "../../components/table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { gpusOf } from "./csv-columns";
import { MaskedJob } from "./masked-job";

/** The bars in words: what the picture shows, for readers and for searching. */
export function RunTable({ runs }: { runs: TimelineRun[] }) {
  const { t, n, word } = useText();
  return (
    <DataTable
      label={t("timeline.table_label")}
      windowed
      rows={runs}
      rowKey={(run) => run.id}
      columns={[
        { key: "job", head: t("field.job"), cell: (run) => <MaskedJob job={run.job} /> },
        { key: "team", head: t("field.team"), cell: (run) => run.job.team.name },
        { key: "kind", head: t("field.kind"), cell: (run) => word("kind", run.kind) },
        {
          key: "state",
          head: t("field.state"),
          cell: (run) => (
            <>
              {word("run_state", run.state)}
              {run.evictions.map((one) => (
                <span key={one.id}>
                  {" "}
                  <Link to="/evictions/$id" params={{ id: one.id }}>
                    {t("timeline.eviction")}
                  </Link>
                </span>
              ))}
            </>
          ),
        },
        { key: "gpus", head: t("field.gpus"), number: true, cell: (run) => n(gpusOf(run)) },
        {
          key: "borrowed",
          head: t("quota.kind.borrowed"),
          number: true,
          cell: (run) => (run.borrowed_gpus == null ? "–" : n(run.borrowed_gpus)),
        },
        { key: "from", head: t("timeline.placed"), cell: (run) => <When at={run.placed_at} /> },
        { key: "to", head: t("timeline.ended"), cell: (run) => <When at={run.ended_at} /> },
        {
          key: "nodes",
          head: t("field.node"),
          wide: true,
          cell: (run) => (
            <>
              {run.members.slice(0, 3).map((member) => (
                <span key={member.member} className="nowrap">
                  {member.node.name} {member.gpu_indices.length > 0 &&
                    `[${member.gpu_indices.join(" ")}]`}{" "}
                </span>
              ))}
              {run.members.length > 3 && t("timeline.more_members", { count: run.members.length - 3 })}
            </>
          ),
        },
      ]}
    />
  );
}
