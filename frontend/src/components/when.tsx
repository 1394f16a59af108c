import { useEffect, useState } from "react";
import { formatUtc, secondsBetween } from "../lib/format";
import { useText } from "../lib/use-text";

/** A moment in the reader's zone; UTC on hover and for focus readers through `title`. */
export function When({ at, short = false }: { at: string | null | undefined; short?: boolean }) {
  const { dateTime, time } = useText();
  if (!at) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {short ? time(at) : dateTime(at)}
    </time>
  );
}

/** The clock, read every so often while the component is shown. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** How long since `from`, or until `to`. */
export function Since({ from }: { from: string | null | undefined }) {
  const { duration } = useText();
  const now = useNow(5000);
  if (!from) return <span className="quiet">–</span>;
  return (
    <time dateTime={from} title={formatUtc(from)}>
      {duration(secondsBetween(from, now))}
    </time>
  );
}

export function Until({ to }: { to: string }) {
  const { t, duration } = useText();
  const left = -secondsBetween(to, useNow());
  return (
    <time dateTime={to} title={formatUtc(to)} className="countdown">
      {left > 0 ? t("time.in", { duration: duration(left) }) : t("time.over", { duration: duration(-left) })}
    </time>
  );
}
