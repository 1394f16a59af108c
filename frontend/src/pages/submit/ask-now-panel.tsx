import { useQuery } from "@tanstack/react-query";
import { listQuotas } from "../../api/operations";
import type { Pool, Quota } from "../../api/views";
import { usePools } from "../../components/choose";
import { Section } from "../../components/page";
import { QuotaBar } from "../../components/quota-bar";
import { askNow } from "../../lib/ask-now";
import { useText } from "../../lib/use-text";
import type { FormValues } from "./spec";

/** What the request would meet now, pool by pool, while the form is filled in. */
export function AskNowPanel({ values }: { values: FormValues | undefined }) {
  const { t, n } = useText();
  const team = values?.team;
  const pools = usePools();
  const quotas = useQuery({
    queryKey: ["quotas", "of", team ?? ""],
    queryFn: () => listQuotas({ team }),
    enabled: !!team,
    refetchInterval: 15_000,
  });
  const share = values?.gpu_milli ? values.gpu_milli / 1000 : 1;
  const asks = (values?.gpus ?? 0) * share * (values?.min_replicas ?? values?.replicas ?? 1);
  const own = (quotas.data ?? []).filter(
    (quota) => quota.team.slug === team && (!values?.pools?.length || values.pools.includes(quota.pool.slug)),
  );
  return (
    <Section title={t("ask.title")}>
      <p>
        <strong>{t("ask.asks", { gpus: n(asks) })}</strong>
      </p>
      {!team && <p className="quiet">{t("ask.choose_team")}</p>}
      {team && quotas.data && own.length === 0 && <p>{t("ask.no_quota")}</p>}
      <div aria-live="polite">
        {own.map((quota) => {
          const pool = pools.data?.find((one) => one.id === quota.pool.id);
          return pool && <InPool key={quota.pool.id} asks={asks} quota={quota} pool={pool} />;
        })}
      </div>
      <p className="quiet">{t("ask.no_promise")}</p>
    </Section>
  );
}

function InPool({ asks, quota, pool }: { asks: number; quota: Quota; pool: Pool }) {
  const { t, n } = useText();
  const now = askNow(asks, quota, pool);
  return (
    <div className="ask-pool">
      <h3>{quota.pool.slug}</h3>
      <QuotaBar quota={quota} />
      <ul>
        <li>{t("ask.free", { free: n(now.poolFreeGpus) })}</li>
        {now.insideGpus > 0 && <li>{t("ask.inside", { gpus: n(now.insideGpus) })}</li>}
        {now.recallGpus > 0 && <li>{t("ask.recall", { gpus: n(now.recallGpus) })}</li>}
        {now.loanGpus > 0 && <li>{t("ask.loan", { gpus: n(now.loanGpus) })}</li>}
        {now.beyondLimitGpus > 0 && (
          <li className="bad-text">{t("ask.beyond", { gpus: n(now.beyondLimitGpus) })}</li>
        )}
      </ul>
    </div>
  );
}
