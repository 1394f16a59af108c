import { Link } from "@tanstack/react-router";
import type { Reclaim } from "../../api/views";
import { JobLink } from "../../components/links";
import { ReclaimMark } from "../../components/tags";
import { Until, When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Who asked for how many GPUs of which pool, and where that stands. */
export function ReclaimHead({ reclaim, link }: { reclaim: Reclaim; link: boolean }) {
  const { t, n, word } = useText();
  // Space that others vacate anyway may be promised without anybody being told to leave.
  const none = reclaim.evictions.length === 0;
  const who = reclaim.evictor_team?.name ?? t("reclaim.nobody");
  const figures = { who, gpus: n(reclaim.gpus), pool: reclaim.pool.slug };
  const words = !reclaim.evictor_job
    ? t("reclaim.asked", figures)
    : none
      ? t("reclaim.promised", figures)
      : t("reclaim.asked_for", figures);
  return (
    <div className="reclaim-head">
      <ReclaimMark state={reclaim.state} />
      <span>
        {words} {reclaim.evictor_job && <JobLink job={reclaim.evictor_job} />}
      </span>
      <span className="quiet">
        <When at={reclaim.created_at} />
      </span>
      {reclaim.state === "waiting" && (
        <span>
          {t("reclaim.expires")} <Until to={reclaim.expires_at} />
        </span>
      )}
      {reclaim.end_reason && <span className="quiet">{word("end_reason", reclaim.end_reason)}</span>}
      {link && (
        <Link to="/reclaims/$id" params={{ id: reclaim.id }} aria-label={t("reclaim.link_label", { who })}>
          {t("reclaim.link")}
        </Link>
      )}
    </div>
  );
}
