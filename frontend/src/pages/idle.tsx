import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { type IdleNotice, listIdle } from "../api/use";
import { ChooseTeam } from "../components/choose";
import { Nothing } from "../components/feedback";
import { JobLink } from "../components/links";
import { Page } from "../components/page";
import { PagedTable } from "../components/paged-table";
import { Snooze } from "../components/snooze";
import type { TableColumn } from "../components/table";
import { Until, When } from "../components/when";
import { useText } from "../lib/use-text";

/** Jobs whose GPUs compute nothing: the evidence, what follows, and putting it off. */
export function IdlePage() {
  const { t } = useText();
  const search = useSearch({ from: "/idle" });
  const navigate = useNavigate({ from: "/idle" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const columns = useColumns();
  const closed = search.over === "yes";
  return (
    <Page title={t("nav.idle")}>
      <div className="filters">
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <Button aria-pressed={closed} onClick={() => set({ over: closed ? undefined : "yes" })}>
          {t("idle_list.over_too")}
        </Button>
      </div>
      <PagedTable
        label={t("nav.idle")}
        queryKey={["idle", search.team ?? "", closed ? "closed" : "open"]}
        load={(cursor) =>
          listIdle({ ...(search.team && { team: search.team }), ...(closed && { closed }) }, cursor)
        }
        columns={columns}
        rowKey={(notice) => notice.id}
        empty={<Nothing why={t("idle_list.none")} next={t("idle_list.none_next")} />}
        refetchMs={15_000}
      />
    </Page>
  );
}

function useColumns(): TableColumn<IdleNotice>[] {
  const { t, n, word, sentence } = useText();
  return [
    { key: "job", head: t("field.job"), cell: (notice) => <JobLink job={notice.job} withTeam /> },
    { key: "gpus", head: t("field.gpus"), number: true, cell: (notice) => n(notice.gpus) },
    { key: "state", head: t("field.state"), cell: (notice) => word("idle_state", notice.state) },
    { key: "since", head: t("idle_list.since"), cell: (notice) => <When at={notice.idle_since} /> },
    {
      key: "act",
      head: t("idle_list.not_before"),
      cell: (notice) =>
        notice.state === "notified" && !notice.protected ? (
          <Until to={notice.act_at} />
        ) : (
          <When at={notice.act_at} />
        ),
    },
    {
      key: "evidence",
      head: t("idle_list.evidence"),
      wide: true,
      cell: (notice) => sentence(notice.sentence),
    },
    {
      key: "acts",
      head: t("idle_list.put_off"),
      cell: (notice) => <Snooze job={notice.job} idle={notice} />,
    },
  ];
}
