import { Outlet, useRouterState } from "@tanstack/react-router";
import { Spin } from "antd";
import { useEffect, useRef } from "react";
import { LOCALES } from "../api/views";
import { ConfirmProvider } from "../components/confirm";
import { ProblemAlert } from "../components/feedback";
import { oneOf } from "../lib/search-params";
import { useText } from "../lib/use-text";
import { LiveProvider } from "../live/context";
import { SignInPage } from "../pages/sign-in";
import { useMe } from "../session";
import { setLocale, usePreferences } from "../settings/preferences";
import { HeaderBar } from "./header-bar";
import { KeyboardHelp } from "./keyboard";
import { MainMenu } from "./main-menu";

/** What surrounds every page: sign-in first, then menu, header, and the page itself. */
export function Shell() {
  const { t } = useText();
  const me = useMe();
  const { locale } = usePreferences();
  const own = oneOf(LOCALES, me.data?.locale);
  useEffect(() => {
    // The person's language on the server counts in a browser where none was chosen.
    if (own && !locale) setLocale(own);
  }, [own, locale]);

  if (me.isPending) return <Spin fullscreen description={t("live.loading")} />;
  if (me.data === undefined) {
    return (
      <main className="alone">
        <ProblemAlert error={me.error} onRetry={() => me.refetch()} />
      </main>
    );
  }
  if (me.data === null) return <SignInPage />;
  return (
    <LiveProvider>
      <ConfirmProvider>
        <a className="skip" href="#main">
          {t("nav.skip")}
        </a>
        <div className="shell">
          <aside className="side">
            <MainMenu />
          </aside>
          <div className="beside">
            <HeaderBar me={me.data} />
            <MainArea />
          </div>
        </div>
        <KeyboardHelp />
      </ConfirmProvider>
    </LiveProvider>
  );
}

/** Moves the focus to the page on navigation, so that a reader and the keyboard start there. */
function MainArea() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const ref = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && path) ref.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  return (
    <main id="main" className="main" tabIndex={-1} ref={ref}>
      <Outlet />
    </main>
  );
}
