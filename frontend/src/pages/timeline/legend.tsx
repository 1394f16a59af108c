import { useId } from "react";
import { Patterns } from "../../components/quota-bar";
import { inkOn } from "../../lib/timeline/draw";
import type { Painter } from "../../lib/timeline/paint";
import { useText } from "../../lib/use-text";

/** What colours, letters and patterns of the bars mean. */
export function Legend({ painter }: { painter: Painter }) {
  const { t } = useText();
  const id = useId();
  return (
    <ul className="quota-legend map-legend" aria-label={t("timeline.legend")}>
      {painter.legend.map(({ id: key, name, paint }) => (
        <li key={key}>
          <span
            className="gpu"
            style={{ background: paint.color, color: inkOn(paint.color) }}
            aria-hidden="true"
          >
            {paint.letter}
          </span>
          {name}
        </li>
      ))}
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <Patterns id={id} />
          <rect width="24" height="14" fill={`url(#${id}-borrowed)`} />
        </svg>
        {t("timeline.mark.borrowed")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <rect width="20" height="14" fill="var(--free)" />
          <path d="M20 0h4v14h-4l-6-7z" fill="var(--bad)" />
        </svg>
        {t("timeline.mark.evicted")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <rect width="20" height="14" fill="var(--free)" />
          <rect x="20" width="4" height="14" fill="var(--ink)" />
        </svg>
        {t("timeline.mark.failed")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <rect x="0.5" y="0.5" width="23" height="13" className="outline limit" />
        </svg>
        {t("timeline.mark.limit")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <rect x="0.5" y="0.5" width="23" height="13" className="outline planned" />
        </svg>
        {t("timeline.mark.planned")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <rect x="1.5" y="1.5" width="21" height="11" className="outline reserved" />
        </svg>
        {t("timeline.mark.reserved")}
      </li>
      <li>
        <svg width="24" height="14" aria-hidden="true">
          <path d="M0 0l24 14M0 14L24 0" className="outline" />
          <rect x="0.5" y="0.5" width="23" height="13" className="outline maintenance" />
        </svg>
        {t("timeline.mark.maintenance")}
      </li>
    </ul>
  );
}
