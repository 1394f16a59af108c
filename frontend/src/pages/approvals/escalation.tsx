import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type Escalation, showEscalation } from "../../api/approvals";
import { Problem } from "../../api/problem";
import { Answer, Nothing } from "../../components/feedback";
import { Facts, Page, Section } from "../../components/page";
import { Until, When } from "../../components/when";
import { forWhom, termsText } from "../../lib/terms";
import { useText } from "../../lib/use-text";
import { Acts } from "./acts";
import { Comments } from "./comments";
import { EscalationMark } from "./escalation-mark";
import { LivePreview } from "./preview";
import { Steps } from "./steps";

/** One request: what it asks for, what a yes would cost others, who has decided what, and what the reader may do. */
export function EscalationPage() {
  const { t, word } = useText();
  const { id } = useParams({ from: "/approvals/$id" });
  const escalation = useQuery({
    queryKey: ["escalation", id],
    queryFn: () => showEscalation(id),
    refetchInterval: 30_000,
  });
  if (escalation.error instanceof Problem && escalation.error.status === 404) {
    return (
      <Page title={t("approval.not_found")}>
        <Nothing why={t("approval.not_found_why")} next={<Link to="/approvals">{t("nav.approvals")}</Link>} />
      </Page>
    );
  }
  const one = escalation.data;
  return (
    <Page
      title={one ? t("approval.title", { what: word("asks_for", one.asks_for), who: one.team.name }) : ""}
      extra={one && <EscalationMark one={one} />}
    >
      <Answer of={escalation}>{(data) => <Body one={data} />}</Answer>
    </Page>
  );
}

function Body({ one }: { one: Escalation }) {
  const { t } = useText();
  const open = ["in_review", "approved"].includes(one.state);
  return (
    <>
      <Standing one={one} />
      <Section title={t("approval.what")}>
        <What one={one} />
      </Section>
      <Acts key={`${one.id}/${one.version}`} one={one} />
      {open && <LivePreview one={one} />}
      <Section title={t("approval.steps")}>
        <Steps one={one} />
      </Section>
      <Comments id={one.id} />
    </>
  );
}

/** Where it stands, in one sentence. */
function Standing({ one }: { one: Escalation }) {
  const text = useText();
  const { t, n, word } = text;
  if (one.state === "in_review" && one.step != null)
    return (
      <p className="verdict">
        {t("approval.waits_step", { step: n(one.step), steps: n(one.steps.length) })}{" "}
        {one.decide_by && <Until to={one.decide_by} />}
      </p>
    );
  if (one.state === "approved")
    return (
      <p className="verdict">
        {t("approval.begins")} {one.starts_at && <Until to={one.starts_at} />}
      </p>
    );
  if (one.state === "active")
    return (
      <p className="verdict">
        {t("approval.is_active", { terms: termsText(one.granted, text, one.budget?.unit) })}{" "}
        {one.expires_at && (
          <>
            {t("approval.ends")} <Until to={one.expires_at} />
          </>
        )}
      </p>
    );
  return (
    <p className="verdict">
      {word("escalation_ended", one.state)} {one.ended_by?.display_name} <When at={one.ended_at} />{" "}
      {one.end_note}
    </p>
  );
}

function What({ one }: { one: Escalation }) {
  const text = useText();
  const { t, n, word } = text;
  const asked = termsText(one.asked, text, one.budget?.unit);
  const granted = termsText(one.granted, text, one.budget?.unit);
  return (
    <Facts
      items={[
        [t("approval.asks_for"), word("asks_for", one.asks_for)],
        [
          t("approval.for_whom"),
          one.job ? (
            <Link key="job" to="/jobs/$id" params={{ id: one.job.id }}>
              {one.job.name}
            </Link>
          ) : (
            forWhom(one, text)
          ),
        ],
        [t("field.team"), one.team.name],
        [
          t("cost_menu.budgets"),
          one.budget && (
            <Link key="budget" to="/cost/budgets" search={{ team: one.team.slug }}>
              {[
                word("cost_unit", one.budget.unit ?? ""),
                one.budget.priority_class
                  ? word("priority", one.budget.priority_class)
                  : t("budget.every_class"),
              ].join(" · ")}
            </Link>
          ),
        ],
        [t("approval.asked"), asked],
        [t("approval.granted"), granted === asked ? null : <strong key="granted">{granted}</strong>],
        [t("approval.scope"), one.scope ? word("escalation_scope", one.scope) : null],
        [t("approval.reason"), one.reason],
        [t("approval.by"), one.requested_by.display_name],
        [t("approval.requested"), <When key="requested" at={one.requested_at} />],
        [t("approval.starts"), one.starts_at && <When key="starts" at={one.starts_at} />],
        [t("approval.cost"), n(one.cost_gpu_hours, 1)],
        [t("approval.rule"), one.rule],
        [t("approval.activated"), one.activated_at && <When key="activated" at={one.activated_at} />],
        [t("approval.expires"), one.expires_at && <When key="expires" at={one.expires_at} />],
        [
          t("approval.renews"),
          one.renews && (
            <Link key="renews" to="/approvals/$id" params={{ id: one.renews }}>
              {t("approval.renewed")}
            </Link>
          ),
        ],
        [t("approval.review_due"), one.review?.due_at && <When key="due" at={one.review.due_at} />],
        [
          t("approval.reviewed"),
          one.review?.reviewed_at &&
            `${word("review_outcome", one.review.outcome ?? "")} · ${one.review.reviewed_by?.display_name ?? ""} · ${one.review.comment ?? ""}`,
        ],
      ]}
    />
  );
}
