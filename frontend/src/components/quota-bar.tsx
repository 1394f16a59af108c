import { useId } from "react";
import type { Quota } from "../api/views";
import { quotaShape, type Segment } from "../lib/quota-shape";
import { quotaWords } from "../lib/quota-words";
import { useText } from "../lib/use-text";
import { useLive } from "../live/context";
import { AlertIcon, LeaveIcon } from "./icons";

type Props = { quota: Pick<Quota, "guaranteed_gpus" | "borrow_limit_gpus" | "use">; compact?: boolean };
const HEIGHT = 22;

/**
 * A team's quota in one picture, the same on every page: inside the quota used (solid), lent (dots) and free
 * (outline); past the quota mark borrowed (hatched), up to the limit mark. The words beside it say the same.
 */
export function QuotaBar({ quota, compact = false }: Props) {
  const { t, n, duration } = useText();
  const { stale, ageSecs } = useLive();
  const id = useId();
  const shape = quotaShape(quota);
  const words = quotaWords(quota, t, n);
  const at = (gpus: number) => `${(Math.min(gpus, shape.scale) / shape.scale) * 100}%`;
  const width = (segment: Segment) =>
    `${((Math.min(segment.to, shape.scale) - segment.from) / shape.scale) * 100}%`;
  // The loudest state of all: lent while the owner waits. Inside a team nobody lends.
  const due = shape.reclaimDue && quota.use.lent_gpus > 0;
  const waited = quota.use.seconds_waiting_below_guarantee;
  return (
    <div className={`quota-bar${due ? " due" : ""}${stale ? " stale" : ""}${compact ? " compact" : ""}`}>
      <svg className="quota-picture" height={HEIGHT + 8} width="100%" role="img" aria-label={words}>
        <Patterns id={id} />
        {shape.segments.map((segment) => (
          <rect
            key={segment.kind}
            className={`quota-${segment.kind}`}
            x={at(segment.from)}
            y={4}
            width={width(segment)}
            height={HEIGHT}
            fill={fillOf(segment.kind, id)}
          />
        ))}
        <line
          className="quota-mark"
          x1={at(shape.guaranteed)}
          x2={at(shape.guaranteed)}
          y1={0}
          y2={HEIGHT + 8}
        />
        {shape.limit != null && (
          <line
            className={`limit-mark${shape.limitBeyond ? " beyond" : ""}`}
            x1={at(shape.limit)}
            x2={at(shape.limit)}
            y1={0}
            y2={HEIGHT + 8}
          />
        )}
      </svg>
      <div className="quota-words">
        <span aria-hidden="true">{words}</span>
        {due && (
          <strong className="flag bad">
            <AlertIcon />
            {t("quota.reclaim_due", { lent: n(quota.use.lent_gpus) })}
            {waited > 0 && ` ${t("quota.waited", { waiting: duration(waited) })}`}
          </strong>
        )}
        {shape.reclaimDue && !due && (
          <span className="flag">
            <LeaveIcon />
            {t("quota.leaving_for")}
          </span>
        )}
        {shape.overLimitGpus > 0 && (
          <strong className="flag bad">
            <AlertIcon />
            {t("quota.over_limit", { gpus: n(shape.overLimitGpus) })}
          </strong>
        )}
        {stale && <span className="flag">{t("live.age", { age: duration(ageSecs) })}</span>}
      </div>
    </div>
  );
}

function fillOf(kind: Segment["kind"], id: string): string {
  if (kind === "used") return "var(--used)";
  if (kind === "free") return "transparent";
  return `url(#${id}-${kind})`;
}

export function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`${id}-lent`} width="7" height="7" patternUnits="userSpaceOnUse">
        <rect width="7" height="7" fill="var(--lent-ground)" />
        <circle cx="3.5" cy="3.5" r="2" fill="var(--lent)" />
      </pattern>
      <pattern
        id={`${id}-borrowed`}
        width="8"
        height="8"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect width="8" height="8" fill="var(--borrowed)" />
        <rect width="3" height="8" fill="var(--borrowed-line)" />
      </pattern>
      <pattern id={`${id}-over`} width="8" height="8" patternUnits="userSpaceOnUse">
        <rect width="8" height="8" fill="var(--bad)" />
        <path d="M0 0 L8 8 M8 0 L0 8" stroke="var(--borrowed-line)" strokeWidth="1.5" />
      </pattern>
    </defs>
  );
}

/** What the patterns mean, once a page. */
export function QuotaLegend() {
  const { t } = useText();
  const id = useId();
  const kinds = ["used", "lent", "free", "borrowed"] as const;
  return (
    <ul className="quota-legend" aria-label={t("quota.legend")}>
      {kinds.map((kind) => (
        <li key={kind}>
          <svg width="22" height="14" aria-hidden="true">
            <Patterns id={`${id}-${kind}`} />
            <rect
              className={`quota-${kind}`}
              x="1"
              y="1"
              width="20"
              height="12"
              fill={fillOf(kind, `${id}-${kind}`)}
            />
          </svg>
          {t(`quota.kind.${kind}`)}
        </li>
      ))}
      <li>
        <svg width="10" height="14" aria-hidden="true">
          <line className="quota-mark" x1="5" x2="5" y1="0" y2="14" />
        </svg>
        {t("quota.kind.quota_mark")}
      </li>
      <li>
        <svg width="10" height="14" aria-hidden="true">
          <line className="limit-mark" x1="5" x2="5" y1="0" y2="14" />
        </svg>
        {t("quota.kind.limit_mark")}
      </li>
    </ul>
  );
}
