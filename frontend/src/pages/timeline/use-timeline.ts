import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { listReservations, listWindows } from "../../api/calendar";
import { listNodes, listPlannedStarts, listRunsOver, type RunFilter } from "../../api/operations";
import type { TimelineRun } from "../../api/views";
import { latestMoment, newerOf } from "../../lib/timeline/merge";
import { cover, spanOf, type View } from "../../lib/timeline/view";

/** Runs of one span that are fetched at most: pages of 1,000. */
export const MOST_RUNS = 20_000;
const AGAIN_MS = 10 * 60_000;

type Filter = Pick<RunFilter, "team" | "queue" | "kind"> & { pool: string };

/**
 * What is drawn. The span is fetched once; what has changed since is fetched again at each change that the server
 * tells of, and that is only what runs, or has just ended.
 */
export function useTimeline(filter: Filter, view: View, now: number) {
  const key = JSON.stringify(filter);
  const range = useMemo(() => cover(view), [view]);
  const from = new Date(range.from).toISOString();
  const to = new Date(range.to).toISOString();
  const span = useQuery({
    queryKey: ["runs", key, from, to],
    queryFn: () => listRunsOver({ ...filter, from, to }, MOST_RUNS),
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing tens of thousands of runs costs more than drawing them.
    structuralSharing: false,
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  // Moments of the server's clock: the reader's own may be wrong.
  const since = useMemo(
    () => (span.data ? new Date(latestMoment(span.data.items) ?? range.from).toISOString() : null),
    [span.data, range.from],
  );
  const reachesNow = range.to >= now;
  const live = useQuery({
    queryKey: ["live-runs", key, since ?? ""],
    queryFn: () => listRunsOver({ ...filter, from: since ?? from }, MOST_RUNS),
    enabled: since !== null && reachesNow && !span.isPlaceholderData,
    refetchInterval: 30_000,
    structuralSharing: false,
    placeholderData: keepPreviousData,
  });
  const planned = useQuery({
    queryKey: ["planned-starts", key],
    queryFn: () => listPlannedStarts(filter),
    refetchInterval: 15_000,
  });
  const nodes = useQuery({
    queryKey: ["nodes", filter.pool, ""],
    queryFn: () => listNodes({ pool: filter.pool }),
    refetchInterval: 60_000,
  });
  const { pool, team } = filter;
  const reservations = useQuery({
    queryKey: ["reservations", pool, team ?? "", from, to],
    queryFn: () => listReservations({ pool, team, from, to }),
    placeholderData: keepPreviousData,
  });
  const windows = useQuery({
    queryKey: ["maintenance-windows", pool, from, to],
    queryFn: () => listWindows({ pool, from, to }),
    placeholderData: keepPreviousData,
  });
  const runs: TimelineRun[] = useMemo(
    () => newerOf(span.data?.items ?? [], live.data?.items ?? []),
    [span.data, live.data],
  );
  return { span, live, planned, nodes, reservations, windows, runs, spanMs: spanOf(range) };
}
