import { useId } from "react";
import { Patterns } from "../../components/quota-bar";
import { type CostBar, type CostGroup, type CostPart, type CostUnit, costScale } from "../../lib/cost-bars";
import { formatHours, formatMoney } from "../../lib/money";
import { useText } from "../../lib/use-text";

type Props = { bars: CostBar[]; by: CostGroup; unit: CostUnit; currency: string | null | undefined };
const HEIGHT = 20;

/** A stacked bar for each group: own solid, borrowed hatched, idle outlined; before zero what lending earned, in dots. */
export function CostPicture({ bars, by, unit, currency }: Props) {
  const { t, word } = useText();
  const id = useId();
  const scale = costScale(bars);
  const nameOf = (bar: CostBar) =>
    bar.name === null
      ? t("cost.nobody")
      : by === "kind"
        ? word("kind", bar.name)
        : by === "priority_class"
          ? word("priority", bar.name)
          : bar.name;
  return (
    <>
      <Legend id={id} />
      <ul className="quota-list">
        {bars.map((bar) => (
          <li key={bar.key}>
            <div className="quota-name">{nameOf(bar)}</div>
            <Bar bar={bar} scale={scale} unit={unit} currency={currency} id={`${id}-${bar.key}`} />
          </li>
        ))}
      </ul>
    </>
  );
}

type BarProps = {
  bar: CostBar;
  scale: ReturnType<typeof costScale>;
  unit: CostUnit;
  currency: string | null | undefined;
  id: string;
};
function Bar({ bar, scale, unit, currency, id }: BarProps) {
  const { t, locale } = useText();
  const whole = scale.before + scale.after;
  const at = (value: number) => `${((scale.before + value) / whole) * 100}%`;
  const wide = (value: number) => `${(Math.max(0, value) / whole) * 100}%`;
  const amount = (text: string) =>
    unit === "money" ? formatMoney(text, currency, locale) : formatHours(text, locale);
  const words = [
    ...bar.parts.map((part) => `${t(`cost_part.${part.kind}`)} ${amount(part.text)}`),
    ...(bar.budget === null ? [] : [`${t("cost.budget")} ${amount(String(bar.budget))}`]),
    ...(bar.forecast === null ? [] : [`${t("cost.forecast")} ${amount(String(bar.forecast))}`]),
  ].join(t("quota.separator"));
  let from = 0;
  const placed = bar.parts.map((part) => {
    const start = part.kind === "lent" ? -bar.credit : from;
    if (part.kind !== "lent") from += part.value;
    return { part, start, width: Math.abs(part.value) };
  });
  const over = bar.budget !== null && bar.forecast !== null && bar.forecast > bar.budget;
  return (
    <div className="quota-bar">
      <svg
        className="quota-picture"
        width="100%"
        height={HEIGHT + 8}
        role="img"
        aria-label={words || t("cost.none")}
      >
        <Patterns id={id} />
        {placed.map(({ part, start, width }) => (
          <rect
            key={part.kind}
            className={CLASSES[part.kind]}
            fill={fillOf(part.kind, id)}
            x={at(start)}
            y={4}
            width={wide(width)}
            height={HEIGHT}
          />
        ))}
        <line className="zero-mark" x1={at(0)} x2={at(0)} y1={0} y2={HEIGHT + 8} />
        {bar.budget !== null && (
          <line className="quota-mark" x1={at(bar.budget)} x2={at(bar.budget)} y1={0} y2={HEIGHT + 8} />
        )}
        {bar.forecast !== null && (
          <line className="limit-mark" x1={at(bar.forecast)} x2={at(bar.forecast)} y1={0} y2={HEIGHT + 8} />
        )}
      </svg>
      <div className="quota-words">
        <span aria-hidden="true">{words || "–"}</span>
        {over && <strong className="flag bad">{t("cost.over_budget")}</strong>}
      </div>
    </div>
  );
}

const CLASSES: Record<CostPart["kind"], string> = {
  own: "quota-used",
  borrowed: "quota-borrowed",
  idle: "quota-free",
  down: "quota-over",
  lent: "quota-lent",
};
function fillOf(kind: CostPart["kind"], id: string): string {
  if (kind === "own") return "var(--used)";
  if (kind === "borrowed") return `url(#${id}-borrowed)`;
  if (kind === "lent") return `url(#${id}-lent)`;
  if (kind === "down") return `url(#${id}-over)`;
  return "none";
}

function Legend({ id }: { id: string }) {
  const { t } = useText();
  return (
    <ul className="quota-legend map-legend" aria-label={t("cost.legend")}>
      {(["own", "borrowed", "idle", "down", "lent"] as const).map((kind) => (
        <li key={kind}>
          <svg width="22" height="14" aria-hidden="true">
            <Patterns id={`${id}-legend-${kind}`} />
            <rect
              className={CLASSES[kind]}
              fill={fillOf(kind, `${id}-legend-${kind}`)}
              x="1"
              y="1"
              width="20"
              height="12"
            />
          </svg>
          {t(`cost_part.${kind}`)}
        </li>
      ))}
      <li>
        <svg width="10" height="14" aria-hidden="true">
          <line className="quota-mark" x1="5" x2="5" y1="0" y2="14" />
        </svg>
        {t("cost.budget")}
      </li>
      <li>
        <svg width="10" height="14" aria-hidden="true">
          <line className="limit-mark" x1="5" x2="5" y1="0" y2="14" />
        </svg>
        {t("cost.forecast")}
      </li>
    </ul>
  );
}
