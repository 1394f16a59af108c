// Numbers, times and durations as the reader's language writes them.
import type { Locale } from "../api/views";

export function formatNumber(value: number, locale: Locale, digits = 2): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}

export function formatPercent(part: number, whole: number, locale: Locale): string {
  const value = whole > 0 ? part / whole : 0;
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(value);
}

export function formatTime(iso: string, locale: Locale): string {
  return new Intl.DateTimeFormat(locale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  }).format(new Date(iso));
}

export function formatDateTime(iso: string, locale: Locale): string {
  return new Intl.DateTimeFormat(locale, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  }).format(new Date(iso));
}

export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

type DurationUnit = "day" | "hour" | "minute" | "second";
const UNITS: [DurationUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** The two largest units: "1 hr 5 min", "40 sec". */
export function formatDuration(seconds: number, locale: Locale): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count === 0 && !(unit === "second" && parts.length === 0)) {
      if (parts.length) break;
      continue;
    }
    parts.push(new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short" }).format(count));
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

export const secondsBetween = (from: string, to: string | number) =>
  (new Date(to).getTime() - new Date(from).getTime()) / 1000;

export function formatMib(mib: number, locale: Locale): string {
  return mib >= 1024 ? `${formatNumber(mib / 1024, locale, 1)} GiB` : `${formatNumber(mib, locale, 0)} MiB`;
}

const collators = new Map<string, Intl.Collator>();
/** Names in the reader's order: pinyin in Chinese, numbers by value. */
export function compareNames(a: string, b: string, locale: Locale): number {
  let collator = collators.get(locale);
  if (!collator) {
    collator = new Intl.Collator(locale === "zh-CN" ? "zh-Hans-CN-u-co-pinyin" : locale, { numeric: true });
    collators.set(locale, collator);
  }
  return collator.compare(a, b);
}
