import { useQuery } from "@tanstack/react-query";
import { listRuns } from "../../api/operations";
import type { Job, Member, Run } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { DataTable } from "../../components/table";
import { Until, When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Every attempt with its members: where it ran, on which GPUs, and how it ended. */
export function Runs({ job }: { job: Job }) {
  const { t } = useText();
  const runs = useQuery({ queryKey: ["job", job.id, "runs"], queryFn: () => listRuns(job.id) });
  return (
    <Answer of={runs}>
      {({ items }) =>
        items.length === 0 ? (
          <Nothing why={t("job.no_runs")} next={t("job.no_runs_next")} />
        ) : (
          <>
            {[...items]
              .sort((a, b) => b.number - a.number)
              .map((run) => (
                <OneRun key={run.number} run={run} />
              ))}
          </>
        )
      }
    </Answer>
  );
}

function OneRun({ run }: { run: Run }) {
  const { t, n, word } = useText();
  return (
    <details className="run" open={run.ended_at == null}>
      <summary>
        <strong>{t("job.run", { number: n(run.number) })}</strong> {word("run_state", run.state)}
        {run.resume && ` · ${t("job.resumed")}`}
        {run.leave_cause && ` · ${word("cause", run.leave_cause)}`} ·{" "}
        <When at={run.started_at ?? run.placed_at} />
        {run.ended_at && (
          <>
            {" – "}
            <When at={run.ended_at} />
          </>
        )}
        {!run.ended_at && run.leave_by && (
          <>
            {" · "}
            <Until to={run.leave_by} />
          </>
        )}
      </summary>
      {run.end_detail && <p>{run.end_detail}</p>}
      <DataTable<Member>
        label={t("job.members", { number: n(run.number) })}
        maxHeight
        rows={run.members}
        rowKey={(member) => String(member.member)}
        columns={[
          { key: "member", head: t("field.member"), number: true, cell: (member) => n(member.member) },
          { key: "node", head: t("field.node"), cell: (member) => member.node.name },
          { key: "gpus", head: t("field.gpus"), cell: (member) => member.gpu_indices.join(", ") || "–" },
          { key: "state", head: t("field.state"), cell: (member) => word("member_state", member.state) },
          { key: "pid", head: t("field.pid"), number: true, cell: (member) => member.pid ?? "–" },
          {
            key: "saved",
            head: t("job.checkpointed"),
            cell: (member) => <When at={member.checkpointed_at} short />,
          },
          { key: "end", head: t("job.end"), wide: true, cell: (member) => <End member={member} /> },
        ]}
      />
    </details>
  );
}

function End({ member }: { member: Member }) {
  const { t } = useText();
  const parts = [
    member.exit_code != null && t("job.exit_code", { code: member.exit_code }),
    member.signal && t("job.signal", { signal: member.signal }),
    member.end_detail,
  ].filter(Boolean);
  return parts.length ? <>{parts.join(" · ")}</> : <span className="quiet">–</span>;
}
