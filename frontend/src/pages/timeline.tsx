import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { usePools } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Answer, Nothing, ProblemAlert } from "../components/feedback";
import { ButtonLink } from "../components/links";
import { Page, Section } from "../components/page";
import { useNow } from "../components/when";
import { pictureOf } from "../lib/timeline/bars";
import { earliestMoment } from "../lib/timeline/merge";
import { painterByKind, painterByTeam } from "../lib/timeline/paint";
import { follow, spanOf, USUAL, type View, viewOf, windowWorthSeeing } from "../lib/timeline/view";
import { useText } from "../lib/use-text";
import { RUN_CSV } from "./timeline/csv-columns";
import { Gantt } from "./timeline/gantt";
import { KeptTable } from "./timeline/kept-table";
import { Legend } from "./timeline/legend";
import { PlannedTable } from "./timeline/planned-table";
import { RunTable } from "./timeline/run-table";
import { Toolbar } from "./timeline/toolbar";
import { MOST_RUNS, useTimeline } from "./timeline/use-timeline";

/** What ran, runs and is planned where: one pool, a row a node, over time. */
export function TimelinePage() {
  const { t } = useText();
  const search = useSearch({ from: "/timeline" });
  const pools = usePools();
  const pool = search.pool ?? pools.data?.[0]?.slug;
  return (
    <Page title={t("nav.timeline")}>
      <Answer of={pools}>
        {() =>
          pool ? (
            <OfPool key={pool} pool={pool} />
          ) : (
            <Nothing why={t("overview.no_pool")} next={t("overview.no_pool_next")} />
          )
        }
      </Answer>
    </Page>
  );
}

/** How often the picture moves on by itself: seldom where a second is less than a pixel. */
const tickMs = (view: View | null) => (view && spanOf(view) <= 2 * 3_600_000 ? 1_000 : 5_000);

function OfPool({ pool }: { pool: string }) {
  const { t, n, word, locale } = useText();
  const search = useSearch({ from: "/timeline" });
  const navigate = useNavigate({ from: "/timeline" });
  const own = useMemo(() => viewOf(search.from, search.to), [search.from, search.to]);
  const [earliest, setEarliest] = useState<number | null>(null);
  const now = useNow(tickMs(own ?? follow(search.window ?? "1h", 0)));
  const window = search.window ?? windowWorthSeeing(earliest, now);
  const view = own ?? follow(window, now);
  const set = useCallback(
    (change: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  const setView = useCallback(
    (next: View) => set({ from: new Date(next.from).toISOString(), to: new Date(next.to).toISOString() }),
    [set],
  );
  const filter = { pool, team: search.team, queue: search.queue, kind: search.kind };
  const filtered = Boolean(search.team || search.queue || search.kind);
  const { span, live, planned, nodes, reservations, windows, runs } = useTimeline(
    filter,
    own ?? follow(search.window ?? USUAL, now),
    now,
  );
  useEffect(() => {
    if (span.data && !span.isPlaceholderData) setEarliest(earliestMoment(span.data.items));
  }, [span.data, span.isPlaceholderData]);
  const picture = useMemo(
    () =>
      pictureOf(nodes.data ?? [], runs, planned.data ?? [], locale, filtered, {
        reservations: reservations.data ?? [],
        windows: windows.data ?? [],
        reservedName: t("timeline.reserved_row"),
      }),
    [nodes.data, runs, planned.data, reservations.data, windows.data, locale, filtered, t],
  );
  const painter = useMemo(
    () =>
      search.by === "kind"
        ? painterByKind((kind) => word("kind", kind))
        : painterByTeam(picture.bars, locale),
    [search.by, picture.bars, locale],
  );
  const inView = useMemo(
    () =>
      runs.filter(
        (run) =>
          Date.parse(run.placed_at) < view.to &&
          (run.ended_at ? Date.parse(run.ended_at) : Number.POSITIVE_INFINITY) > view.from,
      ),
    [runs, view.from, view.to],
  );
  const withoutGpus = inView.filter((run) => run.members.every((one) => one.gpu_indices.length === 0)).length;
  return (
    <>
      <Toolbar pool={pool} view={view} window={own ? null : window} set={set} setView={setView} />
      <Section
        title={t("timeline.runs", { pool })}
        className="timeline-section"
        extra={<CsvButton name={`reeve-runs-${pool}`} columns={RUN_CSV} rows={() => inView} />}
      >
        {live.error ? <ProblemAlert error={live.error} onRetry={() => live.refetch()} /> : null}
        <Answer of={span}>
          {(data) => (
            <Answer of={nodes}>
              {() => (
                <>
                  {!data.whole && <p className="bad-text">{t("timeline.cut", { most: n(MOST_RUNS) })}</p>}
                  {withoutGpus > 0 && search.show !== "table" && (
                    <p className="quiet">{t("timeline.without_gpus", { count: withoutGpus })}</p>
                  )}
                  {picture.rows.length === 0 && inView.length === 0 ? (
                    <Nothing
                      why={t(filtered ? "timeline.none_match" : "nodes.none")}
                      next={
                        filtered ? (
                          <Link to="/timeline" search={{ pool }}>
                            {t("action.clear_filters")}
                          </Link>
                        ) : (
                          t("nodes.none_next")
                        )
                      }
                    />
                  ) : search.show === "table" ? (
                    <RunTable runs={inView} />
                  ) : (
                    <>
                      <Legend painter={painter} />
                      <Gantt
                        picture={picture}
                        painter={painter}
                        view={view}
                        now={now}
                        size={search.rows ?? "nodes"}
                        onView={setView}
                      />
                    </>
                  )}
                </>
              )}
            </Answer>
          )}
        </Answer>
      </Section>
      <Section title={t("timeline.planned")}>
        <Answer of={planned}>{(starts) => <PlannedTable starts={starts} />}</Answer>
      </Section>
      <Section
        title={t("timeline.kept")}
        extra={
          <ButtonLink to="/calendar" search={{ pool }}>
            {t("timeline.to_calendar")}
          </ButtonLink>
        }
      >
        <Answer of={reservations}>
          {(kept) => (
            <Answer of={windows}>
              {(closed) => <KeptTable reservations={kept} windows={closed} view={view} />}
            </Answer>
          )}
        </Answer>
      </Section>
    </>
  );
}
