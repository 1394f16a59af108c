import { Link } from "@tanstack/react-router";
import { useId } from "react";
import type { Eviction, Share } from "../../api/views";
import { LeaveIcon } from "../../components/icons";
import { JobLink } from "../../components/links";
import { Facts } from "../../components/page";
import { Patterns } from "../../components/quota-bar";
import { DataTable } from "../../components/table";
import { Mark, OutcomeMark } from "../../components/tags";
import { nodeNames } from "../../lib/node-names";
import { useText } from "../../lib/use-text";
import { LeaveBar } from "./leave-bar";

/** One victim: how its leaving went, and why it was this one. */
export function EvictionCard({ eviction, open = false }: { eviction: Eviction; open?: boolean }) {
  const { t, n, word, sentence, ruleWord } = useText();
  const { why } = eviction;
  return (
    <article className="eviction">
      <div className="eviction-head">
        <JobLink job={eviction.job} withTeam />
        <span>{t("unit.gpus", { gpus: n(eviction.gpus) })}</span>
        <Mark tone="pending" icon={<LeaveIcon />}>
          {word("cause", eviction.cause)}
        </Mark>
        <OutcomeMark outcome={eviction.outcome} />
        {eviction.surplus_only && <span className="quiet">{t("eviction.surplus_only")}</span>}
        <Link
          to="/evictions/$id"
          params={{ id: eviction.id }}
          aria-label={t("eviction.link_label", { job: eviction.job.name })}
        >
          {t("eviction.link")}
        </Link>
      </div>
      <LeaveBar eviction={eviction} />
      <p className="why">{sentence(why.sentence)}</p>
      <details open={open}>
        <summary>{t("eviction.details")}</summary>
        <Facts
          items={[
            [t("eviction.rule"), ruleWord(why.rule)],
            [
              t("eviction.asked_by"),
              why.evictor_job ? (
                <JobLink key="evictor" job={why.evictor_job} withTeam />
              ) : (
                why.evictor_team?.name
              ),
            ],
            [t("eviction.evictor_priority"), why.evictor_priority == null ? null : n(why.evictor_priority)],
            [t("eviction.victim_priority"), why.victim_priority == null ? null : n(why.victim_priority)],
            [t("eviction.tier"), `${n(why.tier)} · ${word("tier", String(why.tier))}`],
            [t("eviction.lost"), t("eviction.lost_value", { secs: n(why.lost_gpu_secs) })],
            [t("eviction.candidates"), n(why.candidates)],
            [
              t("eviction.runner_up"),
              why.runner_up && (
                <>
                  {why.runner_up.job && <JobLink job={why.runner_up.job} withTeam />}{" "}
                  {word("decided_by", why.runner_up.decided_by)}
                </>
              ),
            ],
            [t("eviction.moves_to"), nodeNames(why.moves_to) || null],
            [t("job.run_number"), n(eviction.run_number)],
          ]}
        />
        <Shares before={eviction.shares_before} after={eviction.shares_after} />
      </details>
    </article>
  );
}

/** Shares before and after, team by team. */
function Shares({ before, after }: { before: Share[]; after: Share[] }) {
  const { t, n } = useText();
  if (before.length === 0 && after.length === 0) return null;
  const rows = [...new Map([...before, ...after].map((share) => [share.team.id, share.team])).values()].map(
    (team) => ({
      team,
      before: before.find((share) => share.team.id === team.id),
      after: after.find((share) => share.team.id === team.id),
    }),
  );
  const words = (share: Share | undefined) =>
    share ? t("eviction.share", { used: n(share.used_gpus), guaranteed: n(share.guaranteed_gpus) }) : "–";
  const most = Math.max(
    ...rows.flatMap(({ before: b, after: a }) => [
      b?.used_gpus ?? 0,
      a?.used_gpus ?? 0,
      b?.guaranteed_gpus ?? 0,
    ]),
    1,
  );
  return (
    <DataTable
      label={t("eviction.shares")}
      rows={rows}
      rowKey={(row) => row.team.id}
      columns={[
        { key: "team", head: t("field.team"), cell: (row) => row.team.name },
        {
          key: "before",
          head: t("eviction.before"),
          wide: true,
          cell: (row) => <ShareBar share={row.before} most={most} words={words(row.before)} />,
        },
        {
          key: "after",
          head: t("eviction.after"),
          wide: true,
          cell: (row) => <ShareBar share={row.after} most={most} words={words(row.after)} />,
        },
      ]}
    />
  );
}

function ShareBar({ share, most, words }: { share: Share | undefined; most: number; words: string }) {
  const id = useId();
  const part = (gpus: number) => `${(gpus / most) * 100}%`;
  return (
    <div className="share">
      {share && (
        <svg width="100%" height="12" aria-hidden="true">
          <Patterns id={id} />
          <rect
            className="fill-used"
            x="0"
            y="2"
            height="8"
            width={part(Math.min(share.used_gpus, share.guaranteed_gpus))}
          />
          <rect
            className="quota-borrowed"
            fill={`url(#${id}-borrowed)`}
            x={part(share.guaranteed_gpus)}
            y="2"
            height="8"
            width={part(Math.max(0, share.used_gpus - share.guaranteed_gpus))}
          />
          <line
            className="quota-mark"
            x1={part(share.guaranteed_gpus)}
            x2={part(share.guaranteed_gpus)}
            y1="0"
            y2="12"
          />
        </svg>
      )}
      <span>{words}</span>
    </div>
  );
}
