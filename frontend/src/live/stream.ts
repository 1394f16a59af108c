import { refresh } from "../api/client";
import { type Change, type Key, keysOfAll } from "./invalidation";

export type LiveState = { link: "connecting" | "live" | "lost"; since: number };
type Source = {
  readonly readyState: number;
  onopen: unknown;
  onerror: unknown;
  addEventListener: (name: string, listener: (event: MessageEvent<string>) => void) => void;
  close: () => void;
};
type Parts = {
  open: (url: string) => Source;
  invalidate: (keys: Key[]) => void;
  onState: (state: LiveState) => void;
  now?: () => number;
};

export const TOPICS = "jobs,loans,reclaims,quotas,nodes,pools,queues,teams,policy,approvals";
const CLOSED = 2;
/** A burst is waited out this long, and refetching happens no more often than that. */
const QUIET_MS = 250;
const APART_MS = 1000;
const RETRY_MS = [1000, 2000, 5000, 10000];

/**
 * Follows the server's changes. The browser reconnects by itself and sends `Last-Event-ID`, so nothing is lost
 * over a restart; when the server ends the stream for good (a session that ran out), the session is renewed, a
 * new stream opened and everything refetched, since a new stream knows no position.
 */
export function followChanges(parts: Parts): () => void {
  const now = parts.now ?? Date.now;
  let source: Source | null = null;
  let waiting: Change[] = [];
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = 0;
  let failures = 0;
  let stopped = false;

  const flush = () => {
    flushTimer = undefined;
    flushedAt = now();
    const keys = keysOfAll(waiting);
    waiting = [];
    if (keys.length) parts.invalidate(keys);
  };
  const take = (change: Change) => {
    waiting.push(change);
    flushTimer ??= setTimeout(flush, Math.max(QUIET_MS, flushedAt + APART_MS - now()));
  };
  const reopen = async () => {
    if (stopped) return;
    const askedAt = now();
    try {
      await refresh(askedAt);
    } catch {
      // Unreachable: opening fails too, and asks for the next try.
    }
    if (!stopped) connect(true);
  };
  const connect = (again: boolean) => {
    const opened = parts.open(`/api/v1/events?topics=${TOPICS}`);
    source = opened;
    opened.onopen = () => {
      failures = 0;
      parts.onState({ link: "live", since: now() });
      if (again) take({ type: "resync" });
      again = false;
    };
    opened.onerror = () => {
      parts.onState({ link: "lost", since: now() });
      if (opened.readyState !== CLOSED || stopped) return;
      const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
      failures += 1;
      retryTimer = setTimeout(reopen, wait);
    };
    opened.addEventListener("change", (event) => {
      const change = parse(event.data);
      if (change) take(change);
    });
    opened.addEventListener("resync", () => take({ type: "resync" }));
  };
  parts.onState({ link: "connecting", since: now() });
  connect(false);
  return () => {
    stopped = true;
    clearTimeout(flushTimer);
    clearTimeout(retryTimer);
    source?.close();
  };
}

function parse(data: string): Change | null {
  try {
    const change = JSON.parse(data) as Change;
    return typeof change.type === "string" ? change : null;
  } catch {
    return null;
  }
}
