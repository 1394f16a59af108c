import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { showEviction } from "../api/operations";
import { Answer } from "../components/feedback";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";
import { EvictionCard } from "./reclaims/eviction-card";

/** One eviction by its own address, as notices link to it. */
export function EvictionPage() {
  const { t } = useText();
  const { id } = useParams({ from: "/evictions/$id" });
  const eviction = useQuery({ queryKey: ["eviction", id], queryFn: () => showEviction(id) });
  return (
    <Page
      title={eviction.data ? t("eviction.title", { job: eviction.data.job.name }) : t("nav.reclaims")}
      actions={
        eviction.data && (
          <Link to="/reclaims/$id" params={{ id: eviction.data.reclaim_id }}>
            {t("eviction.reclaim")}
          </Link>
        )
      }
    >
      <Answer of={eviction}>{(data) => <EvictionCard eviction={data} open />}</Answer>
    </Page>
  );
}
