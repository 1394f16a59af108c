import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Input } from "antd";
import { useMemo } from "react";
import { type JobFilter, listJobs } from "../api/operations";
import { type JobCounts, KINDS, REASON_CODES } from "../api/views";
import { ChoosePool, ChooseTeam, ChooseWord } from "../components/choose";
import { CsvButton } from "../components/csv-button";
import { Answer, Nothing } from "../components/feedback";
import { ButtonLink } from "../components/links";
import { Page } from "../components/page";
import { allPages } from "../lib/csv";
import { useText } from "../lib/use-text";
import { JOB_CSV } from "./jobs/csv-columns";
import { JobTable } from "./jobs/job-table";
import { StateTabs } from "./jobs/state-tabs";

export function JobsPage() {
  const { t } = useText();
  const search = useSearch({ from: "/jobs" });
  const navigate = useNavigate({ from: "/jobs" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const filter: JobFilter = search;
  const jobs = useInfiniteQuery({
    queryKey: ["jobs", "list", JSON.stringify(filter)],
    queryFn: ({ pageParam }) => listJobs(filter, pageParam, 100, pageParam == null),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    maxPages: 100,
  });
  const rows = useMemo(() => jobs.data?.pages.flatMap((page) => page.items) ?? [], [jobs.data]);
  const counts: JobCounts | null = jobs.data?.pages[0]?.counts ?? null;
  const filtered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title={t("nav.jobs")}
      actions={
        <>
          <CsvButton
            name="reeve-jobs"
            columns={JOB_CSV}
            rows={(onProgress) => allPages((cursor) => listJobs(filter, cursor, 200), onProgress)}
          />
          <ButtonLink to="/jobs/new" primary>
            {t("submit.title")}
          </ButtonLink>
        </>
      }
    >
      <StateTabs counts={counts} chosen={search.state} onChoose={(state) => set({ state })} />
      <Filters search={search} set={set} />
      <Answer of={jobs}>
        {() =>
          rows.length === 0 ? (
            <Nothing
              why={t(filtered ? "jobs.none_match" : "jobs.none")}
              next={
                filtered ? (
                  <Link to="/jobs">{t("action.clear_filters")}</Link>
                ) : (
                  <Link to="/jobs/new">{t("jobs.none_next")}</Link>
                )
              }
            />
          ) : (
            <>
              <JobTable rows={rows} />
              {jobs.hasNextPage && (
                <Button
                  className="more"
                  onClick={() => void jobs.fetchNextPage()}
                  loading={jobs.isFetchingNextPage}
                >
                  {t("action.more")}
                </Button>
              )}
            </>
          )
        }
      </Answer>
    </Page>
  );
}

type Search = ReturnType<typeof useSearch<typeof import("../router").router, "/jobs">>;
function Filters({ search, set }: { search: Search; set: (change: Partial<Search>) => void }) {
  const { t } = useText();
  return (
    <div className="filters">
      <Input
        className="choose"
        aria-label={t("jobs.name_contains")}
        placeholder={t("jobs.name_contains")}
        allowClear
        value={search.name_contains ?? ""}
        onChange={(event) => set({ name_contains: event.target.value || undefined })}
      />
      <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
      <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
      <ChooseWord
        label={t("field.kind")}
        group="kind"
        values={KINDS}
        value={search.kind}
        onChange={(kind) => set({ kind: kind as Search["kind"] })}
      />
      <ChooseWord
        label={t("field.reason")}
        group="reason"
        values={REASON_CODES}
        value={search.reason}
        onChange={(reason) => set({ reason: reason as Search["reason"] })}
      />
      <Input
        className="choose"
        aria-label={t("field.user")}
        placeholder={t("field.user")}
        allowClear
        value={search.user ?? ""}
        onChange={(event) => set({ user: event.target.value || undefined })}
      />
      {search.queue && <Button onClick={() => set({ queue: undefined })}>{t("jobs.one_queue")}</Button>}
    </div>
  );
}
