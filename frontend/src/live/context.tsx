import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { refetcher } from "./refetch";
import { followChanges, type LiveState } from "./stream";

type Live = LiveState & {
  /** When the answers on the page were last fetched; null before the first. */
  asOf: number | null;
  /** Whole seconds since then, counted only while the link is lost. */
  ageSecs: number;
  stale: boolean;
};

const STALE_AFTER_SECS = 10;
const POLL_WHILE_LOST_MS = 15_000;
const Context = createContext<Live>({ link: "connecting", since: 0, asOf: null, ageSecs: 0, stale: false });
export const useLive = () => useContext(Context);

export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [state, setState] = useState<LiveState>({ link: "connecting", since: Date.now() });
  const [asOf, setAsOf] = useState<number | null>(null);
  const [now, setNow] = useState(Date.now());

  useEffect(() => {
    const setOnce = (next: LiveState) => setState((before) => (before.link === next.link ? before : next));
    return followChanges({
      open: (url) => new EventSource(url, { withCredentials: true }),
      invalidate: refetcher(client),
      onState: setOnce,
    });
  }, [client]);

  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type === "updated" && event.action.type === "success") setAsOf(Date.now());
      }),
    [client],
  );

  useEffect(() => {
    if (state.link === "live") return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    // Where the stream cannot come through at all, asking again still can.
    const poll = setInterval(() => void client.invalidateQueries(), POLL_WHILE_LOST_MS);
    return () => {
      clearInterval(timer);
      clearInterval(poll);
    };
  }, [state.link, client]);

  const live = useMemo(() => {
    const ageSecs =
      state.link === "live" ? 0 : Math.max(0, Math.round((now - Math.max(asOf ?? 0, state.since)) / 1000));
    return { ...state, asOf, ageSecs, stale: ageSecs >= STALE_AFTER_SECS };
  }, [state, asOf, now]);
  return <Context.Provider value={live}>{children}</Context.Provider>;
}
