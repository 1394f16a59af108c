import type { ReactNode } from "react";
import type { WhatIf, WhatIfJob } from "../api/views";
import { nodeNames } from "../lib/node-names";
import { useText } from "../lib/use-text";
import { JobLink } from "./links";

const MOST_SHOWN = 8;

/** A job of the answer: a link where there is one, its team where the reader may not see more. */
export function ImaginedJob({ job }: { job: WhatIfJob }) {
  const { t } = useText();
  if (job.imagined) return <strong>{t("whatif.this_job")}</strong>;
  if (job.id && job.name) {
    const team = job.team ?? undefined;
    return <JobLink job={{ id: job.id, name: job.name, ...(team && { team }) }} withTeam />;
  }
  return <span className="quiet">{t("timeline.foreign_job_of", { team: job.team?.name ?? "" })}</span>;
}

/** What would differ from today: who starts and who no longer does, who is told to leave, which loans change. */
export function WhatIfDifference({ answer }: { answer: WhatIf }) {
  const { t, n, sentence, word, duration } = useText();
  const starts = answer.starts.items.filter((start) => !start.job.imagined);
  const others = answer.reasons.items.filter((one) => !one.job.imagined);
  const hidden = answer.starts.items.length - starts.length;
  const reasonsHidden = answer.reasons.items.length - others.length;
  return (
    <>
      <Part title={t("whatif.evictions")} total={answer.evictions.total}>
        {answer.evictions.items.map((one, at) => (
          <li key={at}>
            <ImaginedJob job={one.job} /> {one.surplus_only && `(${t("eviction.surplus_only")}) `}
            <div className="quiet">
              {sentence(one.sentence)}{" "}
              {one.lost_gpu_secs > 0 && t("whatif.lost", { lost: duration(one.lost_gpu_secs) })}{" "}
              {one.moves_to.length > 0
                ? t("whatif.moves_to", { nodes: nodeNames(one.moves_to) })
                : t(one.runs_again ? "whatif.runs_again" : "whatif.waits_again")}
            </div>
          </li>
        ))}
      </Part>
      <Part title={t("whatif.spared")} total={answer.spared.total}>
        {answer.spared.items.map((one, at) => (
          <li key={at}>
            <ImaginedJob job={one.job} />
          </li>
        ))}
      </Part>
      <Part title={t("whatif.loans")} total={answer.loans.total}>
        {answer.loans.items.map((loan, at) => (
          <li key={at}>
            {t("whatif.loan", {
              borrower: loan.borrower?.name ?? "",
              lender: loan.lender?.name ?? t("loan.nobody"),
              pool: loan.pool?.slug ?? "",
              before: n(loan.gpus_before),
              after: n(loan.gpus_after),
            })}
          </li>
        ))}
      </Part>
      <Part title={t("whatif.starts")} total={answer.starts.total - hidden}>
        {starts.map((start, at) => (
          <li key={at}>
            <ImaginedJob job={start.job} /> {t("unit.gpus", { gpus: n(start.gpus) })}
          </li>
        ))}
      </Part>
      <Part title={t("whatif.lost_starts")} total={answer.lost_starts.total}>
        {answer.lost_starts.items.map((start, at) => (
          <li key={at}>
            <ImaginedJob job={start.job} /> {t("unit.gpus", { gpus: n(start.gpus) })}
          </li>
        ))}
      </Part>
      <Part title={t("whatif.reasons")} total={answer.reasons.total - reasonsHidden}>
        {others.map((one, at) => (
          <li key={at}>
            <ImaginedJob job={one.job} />{" "}
            <span className="quiet">
              {t("whatif.reason", {
                before: one.before ? word("reason", one.before.code) : t("whatif.no_wait"),
                after: one.after ? word("reason", one.after.code) : t("whatif.no_wait"),
              })}
            </span>
          </li>
        ))}
      </Part>
    </>
  );
}

/** The first of a list, with how many there are; nothing where there are none. */
function Part({ title, total, children }: { title: string; total: number; children: ReactNode[] }) {
  const { t, n } = useText();
  if (total === 0) return null;
  const more = total - Math.min(children.length, MOST_SHOWN);
  return (
    <>
      <h3>
        {title} <span className="quiet">{n(total)}</span>
      </h3>
      <ul>{children.slice(0, MOST_SHOWN)}</ul>
      {more > 0 && <p className="quiet">{t("whatif.more", { count: more })}</p>}
    </>
  );
}
