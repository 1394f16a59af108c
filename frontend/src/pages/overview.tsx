import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { showOverview } from "../api/operations";
import type { Overview, Pool, Quota } from "../api/views";
import { ChoosePool } from "../components/choose";
import { Answer, Nothing } from "../components/feedback";
import { AlertIcon } from "../components/icons";
import { ButtonLink } from "../components/links";
import { Page, Section } from "../components/page";
import { QuotaBar, QuotaLegend } from "../components/quota-bar";
import { Mark } from "../components/tags";
import { When } from "../components/when";
import { quotaTree } from "../lib/quota-tree";
import { useText } from "../lib/use-text";
import { NeedsYou } from "./overview/needs-you";
import { PoolHistory } from "./overview/pool-history";

export function OverviewPage() {
  const { t } = useText();
  const overview = useQuery({ queryKey: ["overview"], queryFn: showOverview, refetchInterval: 30_000 });
  return (
    <Page
      title={t("nav.overview")}
      actions={
        <ButtonLink to="/jobs/new" primary>
          {t("submit.title")}
        </ButtonLink>
      }
    >
      <Answer of={overview}>{(data) => <Body overview={data} />}</Answer>
    </Page>
  );
}

function Body({ overview }: { overview: Overview }) {
  const { t } = useText();
  const search = useSearch({ from: "/" });
  const { pool, hours } = search;
  const navigate = useNavigate({ from: "/" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const shownPool = overview.pools.find((one) => one.slug === pool) ?? overview.pools[0];
  if (overview.pools.length === 0) {
    return <Nothing why={t("overview.no_pool")} next={t("overview.no_pool_next")} />;
  }
  return (
    <>
      <NeedsYou items={overview.needs_me} />
      <div className="tiles">
        {overview.pools.map((one) => (
          <PoolTile key={one.id} pool={one} />
        ))}
        <JobsTile overview={overview} />
      </div>
      <Section title={t("overview.quotas")} extra={<QuotaLegend />}>
        <QuotaList quotas={overview.teams} />
      </Section>
      {shownPool && (
        <PoolHistory
          pool={shownPool.slug}
          chosenHours={hours}
          onHours={(next) => set({ hours: next })}
          extra={
            overview.pools.length > 1 && (
              <ChoosePool value={shownPool.slug} all={false} onChange={(next) => set({ pool: next })} />
            )
          }
        />
      )}
    </>
  );
}

function PoolTile({ pool }: { pool: Pool }) {
  const { t, n, percent } = useText();
  const { capacity, nodes } = pool;
  const gone = nodes.lost + nodes.cordoned + nodes.draining;
  return (
    <section className="tile" aria-labelledby={`pool-${pool.id}`}>
      <h2 id={`pool-${pool.id}`}>
        <Link to="/nodes" search={{ pool: pool.slug }}>
          {pool.name}
        </Link>
        <span className="quiet"> {pool.gpu_model}</span>
      </h2>
      <div className="figures">
        <div>
          <strong>{percent(capacity.allocated_gpus, capacity.usable_gpus)}</strong>
          <span>{t("overview.allocated")}</span>
        </div>
        <div>
          <strong className="quiet">–</strong>
          <span>{t("overview.utilised_unmeasured")}</span>
        </div>
      </div>
      <p>
        {t("overview.capacity", {
          free: n(capacity.free_gpus),
          usable: n(capacity.usable_gpus),
          pending: n(pool.pending_gpus),
          jobs: n(pool.pending_jobs),
        })}
        {capacity.leaving_gpus > 0 && ` ${t("overview.leaving", { gpus: n(capacity.leaving_gpus) })}`}
      </p>
      <p className={gone ? "" : "quiet"}>
        {t("overview.nodes", { count: nodes.ready })}
        {gone > 0 &&
          ` ${t("overview.nodes_out", { cordoned: n(nodes.cordoned), draining: n(nodes.draining), lost: n(nodes.lost) })}`}
      </p>
      {pool.mode === "overcommitted" && (
        <Mark tone="bad" icon={<AlertIcon />}>
          {t("overview.overcommitted", {
            by: n(Math.max(0, pool.guaranteed_gpus - capacity.usable_gpus)),
          })}
        </Mark>
      )}
    </section>
  );
}

function JobsTile({ overview }: { overview: Overview }) {
  const { t, n, word } = useText();
  const states = ["queued", "starting", "running", "leaving"] as const;
  return (
    <section className="tile" aria-labelledby="tile-jobs">
      <h2 id="tile-jobs">
        <Link to="/jobs">{t("nav.jobs")}</Link>
      </h2>
      <div className="figures">
        {states.map((state) => (
          <div key={state}>
            <strong>
              <Link to="/jobs" search={{ state: [state] }}>
                {n(overview.jobs[state])}
              </Link>
            </strong>
            <span>{word("state", state)}</span>
          </div>
        ))}
      </div>
      <p>
        <Link to="/reclaims">{t("overview.evictions", { count: overview.evictions_last_day })}</Link>
      </p>
      <p className="quiet">
        {t("overview.scheduler")} <When at={overview.scheduler.last_tick_at} short />
      </p>
    </section>
  );
}

function QuotaList({ quotas }: { quotas: Quota[] }) {
  const { t, locale } = useText();
  if (quotas.length === 0) return <Nothing why={t("overview.no_quota")} next={t("overview.no_quota_next")} />;
  const rows = quotaTree(quotas, locale);
  const pools = new Set(quotas.map((quota) => quota.pool.slug));
  return (
    <ul className="quota-list">
      {rows.map(({ quota, depth }) => (
        <li key={quota.team.id + quota.pool.id}>
          <div className={`quota-name depth-${Math.min(depth, 4)}`}>
            <Link to="/queues" search={{ name: quota.team.slug, pool: quota.pool.slug }}>
              {quota.team.name}
            </Link>
            {pools.size > 1 && <span className="quiet"> {quota.pool.slug}</span>}
          </div>
          <QuotaBar quota={quota} />
        </li>
      ))}
    </ul>
  );
}
