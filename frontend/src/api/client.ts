import createClient from "openapi-fetch";
import { problemOf, unreachable } from "./problem";
import type { paths } from "./schema";

const REFRESHED_AT = "reeve.refreshed_at";

/** Tells the session store that nobody is signed in any more. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(callback: () => void) {
  onSignedOut = callback;
}

/** Any 128 random bits do as a key; `randomUUID` is missing on plain http away from loopback. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw unreachable(cause);
  }
}

const shared = { baseUrl: globalThis.location?.origin ?? "", credentials: "same-origin" } as const;
/** Without the session's care: renewing it must not wait for itself. */
const bare = createClient<paths>({ ...shared, fetch: send });

function refreshedAt(): number {
  try {
    return Number(localStorage.getItem(REFRESHED_AT) ?? 0);
  } catch {
    return 0;
  }
}

let refreshing: Promise<boolean> | null = null;

/**
 * Renews the session once for all that ask at the same time. A refresh token may be used once only, and all
 * tabs share it: whoever waited for the lock first looks whether another tab has just done it.
 */
export function refresh(askedAt = Date.now()): Promise<boolean> {
  const work = async () => {
    if (refreshedAt() > askedAt) return true;
    const { response } = await bare.POST("/api/v1/auth/refresh", {
      params: { query: { session: "cookie" } },
      body: {},
    });
    if (response.ok) {
      try {
        localStorage.setItem(REFRESHED_AT, String(Date.now()));
      } catch {
        // Private windows may refuse storage; then only this tab knows.
      }
    }
    return response.ok;
  };
  if (refreshing) return refreshing;
  const locked = async (): Promise<boolean> =>
    navigator.locks ? navigator.locks.request("reeve-refresh", work) : work();
  refreshing = locked().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

/** One call; on 401 the session is renewed once and the call repeated. Throws a `Problem` for any other no. */
async function sendSignedIn(request: Request): Promise<Response> {
  const askedAt = Date.now();
  const again = request.clone();
  let response = await send(request);
  if (response.status === 401 && !new URL(request.url).pathname.startsWith("/api/v1/auth/")) {
    if (await refresh(askedAt)) response = await send(again);
    if (response.status === 401) onSignedOut();
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Every operation of the API document, typed by it: a path, parameter, field or word that changes breaks the type check. */
export const api = createClient<paths>({ ...shared, fetch: sendSignedIn });

/** What a call answered; a no has been thrown as a `Problem` before. */
export async function answer<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  return (await call).data as Data;
}
