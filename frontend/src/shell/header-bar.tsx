import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Segmented } from "antd";
import type { Me } from "../api/views";
import { useText } from "../lib/use-text";
import { useChooseLocale, useSignOut } from "../session";
import { setTheme, type Theme, usePreferences } from "../settings/preferences";
import { openKeyboardHelp } from "./keyboard";
import { LiveBadge } from "./live-badge";
import { SearchBox } from "./search-box";

export function HeaderBar({ me }: { me: Me }) {
  const { t, locale } = useText();
  const chooseLocale = useChooseLocale();
  const signOut = useSignOut();
  const navigate = useNavigate();
  return (
    <header className="header">
      <SearchBox />
      <LiveBadge />
      <div className="header-end">
        <Button
          onClick={() => void chooseLocale(locale === "zh-CN" ? "en" : "zh-CN")}
          lang={locale === "zh-CN" ? "en" : "zh-CN"}
        >
          {t("nav.other_language")}
        </Button>
        <span className="wide-only">
          <ThemeChoice />
        </span>
        <Button
          className="wide-only"
          onClick={openKeyboardHelp}
          aria-label={t("keys.title")}
          title={t("keys.title")}
        >
          <span aria-hidden="true">{t("keys.help_key")}</span>
        </Button>
        <Dropdown
          trigger={["click"]}
          menu={{
            items: [
              { key: "who", disabled: true, label: me.username },
              {
                key: "account",
                label: t("nav.account"),
                onClick: () => void navigate({ to: "/account" }),
              },
              ...(["light", "dark", "system"] as const).map((theme) => ({
                key: theme,
                label: t("theme.menu", { theme: t(`theme.${theme}`) }),
                onClick: () => setTheme(theme),
              })),
              { key: "keys", label: t("keys.title"), onClick: openKeyboardHelp },
              { key: "out", label: t("auth.sign_out"), onClick: () => void signOut() },
            ],
          }}
        >
          <Button>{me.display_name}</Button>
        </Dropdown>
      </div>
    </header>
  );
}

export function ThemeChoice() {
  const { t } = useText();
  const { theme } = usePreferences();
  const options: { value: Theme; label: string }[] = [
    { value: "light", label: t("theme.light") },
    { value: "dark", label: t("theme.dark") },
    { value: "system", label: t("theme.system") },
  ];
  return (
    <Segmented<Theme>
      aria-label={t("theme.title")}
      name="theme"
      value={theme}
      options={options}
      onChange={setTheme}
    />
  );
}
