import { useQuery } from "@tanstack/react-query";
import { type Escalation, type Preview, previewEscalation } from "../../api/approvals";
import type { Budget } from "../../api/money";
import { listQuotas } from "../../api/operations";
import { Answer } from "../../components/feedback";
import { Facts, Section } from "../../components/page";
import { QuotaBar, QuotaLegend } from "../../components/quota-bar";
import { WhatIfDifference } from "../../components/what-if-difference";
import { When } from "../../components/when";
import { formatHours, formatMoney } from "../../lib/money";
import { affectedBy } from "../../lib/preview-bars";
import { budgetAmount, seatText } from "../../lib/terms";
import { useText } from "../../lib/use-text";
import { touchesOthers } from "../../lib/what-if";

/** What a yes would do now: who starts, who is evicted, quota bars before and after, what it costs. */
export function LivePreview({ one }: { one: Escalation }) {
  const { t } = useText();
  const preview = useQuery({
    queryKey: ["escalation", one.id, "preview", String(one.version)],
    queryFn: () => previewEscalation(one.id),
    refetchInterval: 60_000,
  });
  return (
    <Section title={t("approval.preview")} extra={<QuotaLegend />}>
      <Answer of={preview}>{(data) => <PreviewBody preview={data} quota={quotaChange(one)} />}</Answer>
    </Section>
  );
}

export type QuotaChange = { team: string; pool: string; guaranteed_gpus: number } | null;
const quotaChange = (one: Escalation): QuotaChange =>
  one.asks_for === "quota" && one.pool && one.granted.guaranteed_gpus != null
    ? { team: one.team.id, pool: one.pool.id, guaranteed_gpus: one.granted.guaranteed_gpus }
    : null;

export function PreviewBody({ preview, quota }: { preview: Preview; quota: QuotaChange }) {
  const text = useText();
  const { t, n, word } = text;
  const { what_if: difference, cost, route, budget } = preview;
  return (
    <div className="preview">
      {route && (
        <p className={route.outcome === "refuse" ? "verdict bad" : "verdict"}>
          {t(`approval_route.${route.outcome}`, { rule: route.rule })} {route.because}
          {route.steps.length > 0 && (
            <span className="quiet">
              {" "}
              {route.steps
                .map((seats) => seats.map((seat) => seatText(seat, text)).join(t("approval.or")))
                .join(" → ")}
            </span>
          )}
        </p>
      )}
      {difference && (
        <p className="verdict">
          {touchesOthers(difference) || difference.starts.total > 0
            ? t("policy.would_sum", {
                starts: n(difference.starts.total),
                lost: n(difference.lost_starts.total),
                evictions: n(difference.evictions.total),
                loans: n(difference.loans.total),
              })
            : t("policy.would_nothing")}
        </p>
      )}
      <Bars preview={preview} quota={quota} />
      {difference && <WhatIfDifference answer={difference} />}
      {difference && !difference.at_rest && <p className="bad-text">{t("whatif.not_at_rest")}</p>}
      {budget && (
        <Facts
          items={[
            [t("budget.before"), <BudgetLine key="before" budget={budget.before} />],
            [t("budget.after"), <BudgetLine key="after" budget={budget.after} />],
          ]}
        />
      )}
      <Facts
        items={[
          [t("approval.cost"), `${n(cost.gpu_hours, 1)} (${t("unit.gpus", { gpus: n(cost.gpus) })})`],
          [t("approval.budget_standing"), word("budget_standing", cost.standing)],
          [
            t("approval.budget_left"),
            cost.budget &&
              t("approval.budget_of", {
                left: n(cost.budget.remaining_gpu_hours, 1),
                all: n(cost.budget.gpu_hours + cost.budget.exception_gpu_hours),
                month: cost.budget.month,
              }),
          ],
          [t("verdict.as_of"), <When key="as-of" at={preview.as_of} short />],
        ]}
      />
    </div>
  );
}

/** What is used of a budget and its exceptions. */
function BudgetLine({ budget }: { budget: Budget }) {
  const text = useText();
  const { t, n, word, locale } = text;
  const used = (value: string) =>
    budget.unit === "money" ? formatMoney(value, null, locale) : formatHours(value, locale);
  const amount = (value: string) => budgetAmount(value, budget.unit, text);
  const extra = budget.extra == null ? t("budget.no_limit") : amount(budget.extra);
  return (
    <>
      <progress max={100} value={Math.min(100, budget.percent)} aria-label={t("budget.used")} />{" "}
      {t("budget.line", { used: used(budget.used), amount: amount(budget.amount), extra })} (
      {n(budget.percent)} %, {word("budget_state", budget.state)})
    </>
  );
}

/** The quota bars of the teams that it would touch, before and after. */
function Bars({ preview, quota }: { preview: Preview; quota: QuotaChange }) {
  const { t } = useText();
  const quotas = useQuery({ queryKey: ["quotas", ""], queryFn: () => listQuotas({}), staleTime: 10_000 });
  if (!preview.what_if && !quota) return null;
  const affected = affectedBy(quotas.data ?? [], preview.what_if ?? null, quota);
  if (affected.length === 0) return null;
  return (
    <ul className="before-after">
      {affected.map(({ before, after }) => (
        <li key={`${before.team.id}/${before.pool.id}`}>
          <strong>
            {before.team.name} <span className="quiet">{before.pool.slug}</span>
          </strong>
          <div>
            <span className="quiet">{t("eviction.before")}</span>
            <QuotaBar quota={before} />
          </div>
          <div>
            <span className="quiet">{t("eviction.after")}</span>
            <QuotaBar quota={after} />
          </div>
        </li>
      ))}
    </ul>
  );
}
