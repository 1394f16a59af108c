import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { showReclaim } from "../api/operations";
import { Answer, Nothing } from "../components/feedback";
import { Page, Section } from "../components/page";
import { useText } from "../lib/use-text";
import { EvictionCard } from "./reclaims/eviction-card";
import { ReclaimHead } from "./reclaims/reclaim-head";

/** One reclaim: who asked, which jobs leave for it, and why these. */
export function ReclaimPage() {
  const { t } = useText();
  const { id } = useParams({ from: "/reclaims/$id" });
  const reclaim = useQuery({ queryKey: ["reclaim", id], queryFn: () => showReclaim(id) });
  const who = reclaim.data?.evictor_team?.name ?? t("reclaim.nobody");
  return (
    <Page
      title={reclaim.data ? t("reclaim.title", { who }) : t("nav.reclaims")}
      actions={<Link to="/reclaims">{t("reclaim.all")}</Link>}
    >
      <Answer of={reclaim}>
        {(data) => (
          <>
            <ReclaimHead reclaim={data} link={false} />
            <Section title={t("reclaim.victims", { count: data.evictions.length })}>
              {data.evictions.length === 0 && (
                <Nothing why={t("reclaim.no_victims")} next={t("reclaim.no_victims_why")} />
              )}
              {data.evictions.map((eviction) => (
                <EvictionCard key={eviction.id} eviction={eviction} open={data.evictions.length === 1} />
              ))}
            </Section>
          </>
        )}
      </Answer>
    </Page>
  );
}
