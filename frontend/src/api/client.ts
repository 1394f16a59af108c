import { problemOf, unreachable } from "./problem";

const PREFIX = "/api/v1";
const REFRESHED_AT = "reeve.refreshed_at";

export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;
export type Call = { query?: Query; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal };

/** Tells the session store that nobody is signed in any more. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(callback: () => void) {
  onSignedOut = callback;
}

export function urlOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return `${PREFIX}${path}${text && `?${text}`}`;
}

/** Any 128 random bits do as a key; `randomUUID` is missing on plain http away from loopback. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(method: string, path: string, call: Call): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...call.headers };
  const init: RequestInit = { method, headers, credentials: "same-origin", signal: call.signal ?? null };
  if (call.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(call.body);
  }
  try {
    return await fetch(urlOf(path, call.query), init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw unreachable(cause);
  }
}

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
    const response = await send("POST", "/auth/refresh", { query: { session: "cookie" }, body: {} });
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
export async function call(method: string, path: string, options: Call = {}): Promise<Response> {
  const askedAt = Date.now();
  let response = await send(method, path, options);
  if (response.status === 401 && !path.startsWith("/auth/")) {
    if (await refresh(askedAt)) response = await send(method, path, options);
    if (response.status === 401) onSignedOut();
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await call("GET", path, { query, ...(signal && { signal }) })).json() as Promise<T>;
}

/** A creating or acting POST: the same key is sent again when the caller repeats it. */
export async function post<T>(path: string, body: unknown = {}, key = newKey()): Promise<T> {
  const response = await call("POST", path, { body, headers: { "Idempotency-Key": key } });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Changes what still is as the caller saw it (412 otherwise). */
export async function patch<T>(path: string, body: unknown, version?: number): Promise<T> {
  const headers: Record<string, string> = version === undefined ? {} : { "If-Match": `"${version}"` };
  return (await call("PATCH", path, { body, headers })).json() as Promise<T>;
}
