import { useText } from "../lib/use-text";
import { useLive } from "../live/context";

/** "as of 10:42:05 · live", or how old the page has become. */
export function LiveBadge() {
  const { t, time, duration } = useText();
  const { link, asOf, ageSecs } = useLive();
  const at = asOf === null ? "" : time(new Date(asOf).toISOString());
  const words =
    link === "live"
      ? t("live.as_of", { time: at })
      : link === "connecting"
        ? t("live.connecting")
        : t("live.reconnecting", { age: duration(ageSecs) });
  return (
    <output className={`live ${link}`} aria-live={link === "lost" ? "polite" : "off"}>
      <span className="live-dot" aria-hidden="true" />
      {words}
    </output>
  );
}
