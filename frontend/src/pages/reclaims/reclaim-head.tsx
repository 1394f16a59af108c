import { Link } from "@tanstack/react-router";
import type { Reclaim } from "../../api/views";
import { JobLink } from "../../components/links";
import { ReclaimMark } from "../../components/tags";
import { Until, When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Who asked for how many GPUs of which pool, and where that stands. */
export function ReclaimHead({ reclaim, link }: { reclaim: Reclaim; link: boolean }) {
  const { t, n, word } = useText();
  const who = reclaim.evictor_team?.name ?? t("reclaim.nobody");
  return (
    <div className="reclaim-head">
      <ReclaimMark state={reclaim.state} />
      <span>
        {t("reclaim.asked", { who, gpus: n(reclaim.gpus), pool: reclaim.pool.slug })}{" "}
        {reclaim.evictor_job && <JobLink job={reclaim.evictor_job} />}
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
