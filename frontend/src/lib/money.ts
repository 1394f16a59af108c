// Decimal amounts as the server gives them: texts, shown exactly, never rounded into floats on the way.
import type { Locale } from "../api/views";

type Decimal = Parameters<Intl.NumberFormat["format"]>[0];

/** Money in the price book's currency; without one the bare amount. */
export function formatMoney(amount: string, currency: string | null | undefined, locale: Locale): string {
  const options: Intl.NumberFormatOptions = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const known = currency && /^[A-Z]{3}$/.test(currency);
  const format = new Intl.NumberFormat(locale, known ? { ...options, style: "currency", currency } : options);
  return format.format(amount as Decimal);
}

export function formatHours(hours: string, locale: Locale): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(hours as Decimal);
}

/** An amount with all the digits that it has. */
export function formatExact(amount: string, locale: Locale): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }).format(amount as Decimal);
}

/** This month or one before it, as YYYY-MM in UTC, like the ledger's days. */
export function monthOf(now: number, back = 0): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
}

/** The days of a month: its first, and the first after it. */
export function daysOf(month: string): { from: string; to: string } {
  const [year = 1970, number = 1] = month.split("-").map(Number);
  const day = (at: number) => new Date(Date.UTC(year, at, 1)).toISOString().slice(0, 10);
  return { from: day(number - 1), to: day(number) };
}

export const isMonth = (text: unknown): text is string =>
  typeof text === "string" && /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
