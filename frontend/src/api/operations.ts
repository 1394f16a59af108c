// The calls that the console makes, one function each.
import { call, get, patch, post, type Query, urlOf } from "./client";
import type * as T from "./types";

export type JobFilter = {
  team?: string;
  queue?: string;
  state?: string[];
  kind?: string;
  user?: string;
  pool?: string;
  name_contains?: string;
  reason?: string;
};

export const signIn = async (username: string, password: string) => {
  const response = await call("POST", "/auth/sign-in", {
    query: { session: "cookie" },
    body: { username, password },
  });
  return ((await response.json()) as { user: T.Me }).user;
};
export const signOut = () => call("POST", "/auth/sign-out", { body: {} });
export const showMe = () => get<T.Me>("/me");
export const updateMe = (change: { locale?: T.Locale; display_name?: string }) => patch<T.Me>("/me", change);

export const showOverview = () => get<T.Overview>("/overview");
export const showHistory = (pool: string, hours: number) =>
  get<{ points: T.HistoryPoint[] }>("/overview/history", { pool, hours });

export const listJobs = (filter: JobFilter, cursor?: string | null, limit = 50, count = false) =>
  get<T.JobPage>("/jobs", { ...filter, limit, cursor, ...(count && { count: true }) });
export const showJob = (id: string) => get<T.Job>(`/jobs/${id}`);
export const explainJob = (id: string) => get<T.Explain>(`/jobs/${id}/explain`);
export const listRuns = (id: string) => get<T.Page<T.Run>>(`/jobs/${id}/runs`, { limit: 50 });
export const listJobEvents = (id: string, cursor?: string | null) =>
  get<T.Page<T.Event>>(`/jobs/${id}/events`, { limit: 100, cursor });
export const listJobEvictions = (id: string) =>
  get<T.Page<T.Eviction>>(`/jobs/${id}/evictions`, { limit: 50 });
export const submitJob = (spec: T.JobSpec, key: string) => post<T.Job>("/jobs", spec, key);
export type JobAct = "cancel" | "hold" | "release" | "requeue";
export const actOnJob = (id: string, act: JobAct, body: { reason?: string } = {}) =>
  post<T.Job>(`/jobs/${id}/${act}`, body);

/** A part of a member's log: bytes, since a part may end inside a character. */
export async function readLog(id: string, query: Query, signal?: AbortSignal) {
  const response = await call("GET", `/jobs/${id}/logs`, {
    query,
    headers: { Accept: "text/plain" },
    ...(signal && { signal }),
  });
  const number = (name: string) => Number(response.headers.get(name) ?? 0);
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    start: number("Reeve-Log-Start"),
    next: number("Reeve-Log-Next"),
    complete: response.headers.get("Reeve-Log-Complete") === "true",
  };
}
export const logDownloadUrl = (id: string, run: number, member: number) =>
  urlOf(`/jobs/${id}/logs`, { run, member, download: true });

export const listQueues = (team?: string) => everything<T.Queue>("/queues", { team });
export const showQueue = (id: string) => get<T.Queue>(`/queues/${id}`);
export const updateQueue = (queue: T.Queue, change: { state?: T.QueueState; order?: T.Queue["order"] }) =>
  patch<T.Queue>(`/queues/${queue.id}`, change, queue.version);
export const showLine = (id: string, cursor?: string | null) =>
  get<T.Page<T.LinePlace>>(`/queues/${id}/line`, { limit: 200, cursor });

export const listQuotas = (filter: { team?: string; pool?: string } = {}) =>
  everything<T.Quota>("/quotas", filter);
export const listPools = () => everything<T.Pool>("/pools");
export const listTeams = () => everything<T.Team>("/teams");
export const listNodes = (filter: { pool?: string; state?: string }) => everything<T.Node>("/nodes", filter);
export const actOnNode = (id: string, act: "cordon" | "uncordon" | "drain", note?: string) =>
  post<T.Node>(`/nodes/${id}/${act}`, note ? { note } : {});

export const showLoanMatrix = (pool: string) => get<T.LoanMatrix>("/loans/matrix", { pool });
export const listLoans = (query: { team?: string; pool?: string; open?: boolean; from?: string }) =>
  everything<T.Loan>("/loans", query, 20);
export const listReclaims = (
  filter: { pool?: string; team?: string; state?: string },
  cursor?: string | null,
) => get<T.Page<T.Reclaim>>("/reclaims", { ...filter, limit: 20, cursor });
export const showReclaim = (id: string) => get<T.Reclaim>(`/reclaims/${id}`);
export const showEviction = (id: string) => get<T.Eviction>(`/evictions/${id}`);

/** All pages of a list that stays small (pools, teams, quotas …), bounded. */
async function everything<Item>(path: string, query: Query = {}, mostPages = 50): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const answer: T.Page<Item> = await get<T.Page<Item>>(path, { ...query, limit: 200, cursor });
    items.push(...answer.items);
    cursor = answer.next_cursor;
    if (!cursor) break;
  }
  return items;
}
