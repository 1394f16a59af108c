import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import type { Locale, Sentence } from "../api/views";
import { ruleKey } from "./event-words";
import { formatDateTime, formatDuration, formatNumber, formatPercent, formatTime } from "./format";

/** The page's words and numbers in the reader's language. */
export function useText() {
  const { t, i18n } = useTranslation();
  const locale: Locale = i18n.language === "zh-CN" ? "zh-CN" : "en";
  const n = useCallback((value: number, digits?: number) => formatNumber(value, locale, digits), [locale]);
  /** A word for a code; a code that has no word yet stands for itself. */
  const word = (group: string, code: string) =>
    t(`${group}.${code}`, { defaultValue: code.replaceAll("_", " ") });
  /** A rule by its number in the rule book; one that has no words here speaks for itself. */
  const ruleWord = (rule: string) => t(`rule.${ruleKey(rule)}`, { defaultValue: rule });
  return {
    t,
    ruleWord,
    locale,
    n,
    word,
    percent: (part: number, whole: number) => formatPercent(part, whole, locale),
    time: (iso: string) => formatTime(iso, locale),
    dateTime: (iso: string) => formatDateTime(iso, locale),
    duration: (seconds: number) => formatDuration(seconds, locale),
    sentence: (both: Sentence | null | undefined) => (both ? (locale === "zh-CN" ? both.zh : both.en) : ""),
  };
}
