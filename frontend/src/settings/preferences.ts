import { useSyncExternalStore } from "react";
import type { Locale } from "../api/views";
import { changeLocale, chooseLocale } from "../i18n";

export type Theme = "light" | "dark" | "system";
type Preferences = { locale: Locale | null; theme: Theme };

const KEY = "reeve.preferences";
const listeners = new Set<() => void>();
let current: Preferences = read();

function read(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>;
    const theme = stored.theme === "light" || stored.theme === "dark" ? stored.theme : "system";
    return { locale: stored.locale === "en" || stored.locale === "zh-CN" ? stored.locale : null, theme };
  } catch {
    return { locale: null, theme: "system" };
  }
}

function write(change: Partial<Preferences>) {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Storage may be refused: the choice then lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const usePreferences = () => useSyncExternalStore(subscribe, () => current);
export const currentLocale = () => chooseLocale(current.locale, navigator.languages ?? []);

export function setTheme(theme: Theme) {
  write({ theme });
}
export function setLocale(locale: Locale) {
  write({ locale });
  changeLocale(locale);
}

const darkQuery = () => window.matchMedia?.("(prefers-color-scheme: dark)");
const subscribeDark = (listener: () => void) => {
  darkQuery()?.addEventListener("change", listener);
  return () => darkQuery()?.removeEventListener("change", listener);
};
/** Whether the page is dark now: the choice, or the system's where none was made. */
export function useDark(): boolean {
  const { theme } = usePreferences();
  const system = useSyncExternalStore(subscribeDark, () => darkQuery()?.matches ?? false);
  return theme === "system" ? system : theme === "dark";
}
