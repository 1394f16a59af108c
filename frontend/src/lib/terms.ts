// What a request asks for, in words.
import type { Escalation, Terms } from "../api/approvals";
import { formatExact } from "./money";
import type { useText } from "./use-text";

type Text = ReturnType<typeof useText>;

/** The amounts of a request: "Critical for 2 hr", "16 GPUs guaranteed for good" … */
export function termsText(
  terms: Terms,
  { t, n, word, duration, locale }: Text,
  unit?: string | null,
): string {
  const parts: string[] = [];
  if (terms.level) parts.push(word("priority", terms.level));
  if (terms.guaranteed_gpus != null) parts.push(t("approval.guaranteed", { gpus: n(terms.guaranteed_gpus) }));
  if (terms.borrow_limit_gpus != null)
    parts.push(t("approval.borrow_limit", { gpus: n(terms.borrow_limit_gpus) }));
  if (terms.gpu_hours != null) parts.push(t("approval.gpu_hours", { hours: n(terms.gpu_hours) }));
  if (terms.amount != null)
    parts.push(t("budget.more", { amount: budgetAmount(terms.amount, unit, { word, locale }) }));
  parts.push(
    terms.duration_secs == null
      ? t("approval.for_good")
      : t("approval.for", { duration: duration(terms.duration_secs) }),
  );
  return parts.join(t("quota.separator"));
}

/** An amount of a budget with its unit, exactly; the unit of one that is gone is not known. */
export function budgetAmount(
  amount: string,
  unit: string | null | undefined,
  { word, locale }: Pick<Text, "word" | "locale">,
): string {
  const exact = formatExact(amount, locale);
  return unit && unit !== "money" ? `${exact} ${word("cost_unit", unit)}` : exact;
}

/** Whose it is: a job's, a queue's, or the team's, of some kinds. */
export function forWhom(one: Escalation, { t, word }: Text): string {
  if (one.job) return one.job.name;
  const kinds = one.kinds?.map((kind) => word("kind", kind)).join(t("quota.separator"));
  return [one.team.name, one.queue?.slug, one.pool?.slug, kinds].filter(Boolean).join(" · ");
}

/** Who may decide, in words: "Lead in Vision", "Admin of the installation". */
export function seatText(
  seat: Pick<Escalation["steps"][number]["any_of"][number], "role" | "team" | "platform_role">,
  { t, word }: Text,
): string {
  if (seat.platform_role)
    return t("approval.platform_seat", { role: word("platform_role", seat.platform_role) });
  return t("approval.team_seat", { role: word("role", seat.role ?? ""), team: seat.team?.name ?? "" });
}
