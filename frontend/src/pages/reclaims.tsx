import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { listReclaims } from "../api/operations";
import { type Eviction, RECLAIM_STATES, type Reclaim } from "../api/views";
import { ChoosePool, ChooseTeam, ChooseWord, usePools } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Answer, Nothing } from "../components/feedback";
import { JobLink } from "../components/links";
import { Page, Section } from "../components/page";
import { OutcomeMark } from "../components/tags";
import { allPages, type Column } from "../lib/csv";
import { useText } from "../lib/use-text";
import { LeaveBar } from "./reclaims/leave-bar";
import { LoanMatrix } from "./reclaims/loan-matrix";
import { ReclaimHead } from "./reclaims/reclaim-head";

/** Who lent to whom, and who is being reclaimed and why. */
export function ReclaimsPage() {
  const { t } = useText();
  const search = useSearch({ from: "/reclaims" });
  const navigate = useNavigate({ from: "/reclaims" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const pools = usePools();
  const shownPools = (pools.data ?? []).filter((pool) => !search.pool || pool.slug === search.pool);
  const reclaims = useInfiniteQuery({
    queryKey: ["reclaims", JSON.stringify(search)],
    queryFn: ({ pageParam }) => listReclaims(search, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = async (onProgress: (count: number) => void) =>
    (await allPages((cursor) => listReclaims(search, cursor), onProgress)).flatMap((reclaim) =>
      reclaim.evictions.map((eviction) => ({ reclaim, eviction })),
    );
  return (
    <Page title={t("nav.reclaims")}>
      <div className="filters">
        <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <ChooseWord
          label={t("field.state")}
          group="reclaim_state"
          values={RECLAIM_STATES}
          value={search.state}
          onChange={(state) => set({ state: state as Reclaim["state"] })}
        />
        <CsvButton name="reeve-evictions" columns={CSV} rows={rows} />
      </div>
      {shownPools.map((pool) => (
        <Section key={pool.id} title={t("loan.title", { pool: pool.slug })}>
          <LoanMatrix pool={pool.slug} />
        </Section>
      ))}
      <Section title={t("reclaim.list")}>
        <Answer of={reclaims}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) {
              const filtered = Object.values(search).some((value) => value !== undefined);
              return (
                <Nothing
                  why={t(filtered ? "reclaim.none_match" : "reclaim.none")}
                  next={
                    filtered ? (
                      <Link to="/reclaims">{t("action.clear_filters")}</Link>
                    ) : (
                      t("reclaim.none_next")
                    )
                  }
                />
              );
            }
            return (
              <>
                {items.map((reclaim) => (
                  <ReclaimRow key={reclaim.id} reclaim={reclaim} />
                ))}
                {reclaims.hasNextPage && (
                  <Button
                    className="more"
                    onClick={() => void reclaims.fetchNextPage()}
                    loading={reclaims.isFetchingNextPage}
                  >
                    {t("action.more")}
                  </Button>
                )}
              </>
            );
          }}
        </Answer>
      </Section>
    </Page>
  );
}

const SHOWN_VICTIMS = 12;

function ReclaimRow({ reclaim }: { reclaim: Reclaim }) {
  const { t, sentence } = useText();
  const rest = reclaim.evictions.length - SHOWN_VICTIMS;
  return (
    <article className="reclaim">
      <ReclaimHead reclaim={reclaim} link />
      <ul className="victims">
        {reclaim.evictions.slice(0, SHOWN_VICTIMS).map((eviction) => (
          <li key={eviction.id}>
            <div className="victim">
              <JobLink job={eviction.job} withTeam />
              <OutcomeMark outcome={eviction.outcome} />
            </div>
            <div>
              <LeaveBar eviction={eviction} />
              <div className="why">{sentence(eviction.why.sentence)}</div>
            </div>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Link to="/reclaims/$id" params={{ id: reclaim.id }}>
          {t("reclaim.more_victims", { count: rest })}
        </Link>
      )}
    </article>
  );
}

const CSV: Column<{ reclaim: Reclaim; eviction: Eviction }>[] = [
  { head: "reclaim_id", cell: ({ reclaim }) => reclaim.id },
  { head: "pool", cell: ({ reclaim }) => reclaim.pool.slug },
  { head: "evictor_team", cell: ({ reclaim }) => reclaim.evictor_team?.slug },
  { head: "evictor_job", cell: ({ reclaim }) => reclaim.evictor_job?.name },
  { head: "state", cell: ({ reclaim }) => reclaim.state },
  { head: "eviction_id", cell: ({ eviction }) => eviction.id },
  { head: "victim_job", cell: ({ eviction }) => eviction.job.name },
  { head: "victim_team", cell: ({ eviction }) => eviction.team.slug },
  { head: "run_number", cell: ({ eviction }) => eviction.run_number },
  { head: "gpus", cell: ({ eviction }) => eviction.gpus },
  { head: "cause", cell: ({ eviction }) => eviction.cause },
  { head: "rule", cell: ({ eviction }) => eviction.why.rule },
  { head: "outcome", cell: ({ eviction }) => eviction.outcome },
  { head: "notified_at", cell: ({ eviction }) => eviction.notified_at },
  { head: "leave_by", cell: ({ eviction }) => eviction.leave_by },
  { head: "checkpointed_at", cell: ({ eviction }) => eviction.checkpointed_at },
  { head: "vacated_at", cell: ({ eviction }) => eviction.vacated_at },
];
