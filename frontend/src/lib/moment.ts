// Moments as the browser's own field has them: on the reader's clock, to the minute.

export const localText = (ms: number) =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The moment that such a text means, or null when it means none. */
export function momentOf(text: string | null | undefined): string | null {
  const ms = Date.parse(text ?? "");
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}

/** The next full quarter of an hour. */
export const nextQuarter = (now: number) => Math.ceil(now / 900_000) * 900_000;
