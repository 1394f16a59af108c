import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import type { Locale } from "../api/views";
import en from "./en.json";
import zhCN from "./zh-CN.json";

export const LOCALES: readonly Locale[] = ["zh-CN", "en"];

/** The person's own choice, else what the browser prefers, else English. */
export function chooseLocale(own: string | null | undefined, browser: readonly string[]): Locale {
  if (own === "en" || own === "zh-CN") return own;
  for (const language of browser) {
    if (language.toLowerCase().startsWith("zh")) return "zh-CN";
    if (language.toLowerCase().startsWith("en")) return "en";
  }
  return "en";
}

export function startI18n(locale: Locale) {
  void i18next.use(initReactI18next).init({
    lng: locale,
    fallbackLng: "en",
    keySeparator: ".",
    interpolation: { escapeValue: false },
    resources: { en: { translation: en }, "zh-CN": { translation: zhCN } },
    returnNull: false,
  });
  markDocument(locale);
}

export function changeLocale(locale: Locale) {
  void i18next.changeLanguage(locale);
  markDocument(locale);
}

function markDocument(locale: Locale) {
  document.documentElement.lang = locale;
}
