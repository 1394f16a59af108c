// The calls that the console makes, one function each, over the client that the API document types.
import { answer, api } from "./client";
import { type Cursor, everything, from, ifMatch, keyed, type PageOf, type QueryOf } from "./paging";
import type { components, paths } from "./schema";
import type * as V from "./views";

type Filter<Path extends keyof paths> = Omit<QueryOf<Path>, "limit" | "cursor" | "count">;
export type JobFilter = Filter<"/api/v1/jobs">;

export const signIn = async (username: string, password: string) => {
  const body = { username, password };
  const query = { session: "cookie" };
  return (await answer(api.POST("/api/v1/auth/sign-in", { params: { query }, body }))).user;
};
export const listSignInProviders = () => answer(api.GET("/api/v1/auth/oidc"));
export const signOut = () => answer(api.POST("/api/v1/auth/sign-out", { params: keyed() }));
export const showMe = () => answer(api.GET("/api/v1/me"));
export const updateMe = (body: components["schemas"]["EditMe"]) => answer(api.PATCH("/api/v1/me", { body }));

export const showOverview = () => answer(api.GET("/api/v1/overview"));
export const showHistory = (pool: string, hours: number) =>
  answer(api.GET("/api/v1/overview/history", { params: { query: { pool, hours } } }));

export const listJobs = (filter: JobFilter, cursor?: Cursor, limit = 50, count = false) =>
  answer(
    api.GET("/api/v1/jobs", {
      params: { query: { ...filter, limit, ...from(cursor), ...(count && { count: true }) } },
    }),
  );
export const showJob = (id: string) => answer(api.GET("/api/v1/jobs/{id}", { params: { path: { id } } }));
export const explainJob = (id: string) =>
  answer(api.GET("/api/v1/jobs/{id}/explain", { params: { path: { id } } }));
export const listDependencies = (id: string) =>
  answer(api.GET("/api/v1/jobs/{id}/dependencies", { params: { path: { id }, query: { limit: 200 } } }));
export const showJobRules = (id: string) =>
  answer(api.GET("/api/v1/jobs/{id}/rules", { params: { path: { id } } }));
export const listRuns = (id: string) =>
  answer(api.GET("/api/v1/jobs/{id}/runs", { params: { path: { id }, query: { limit: 50 } } }));
export const listJobEvents = (id: string, cursor?: Cursor) =>
  answer(
    api.GET("/api/v1/jobs/{id}/events", { params: { path: { id }, query: { limit: 100, ...from(cursor) } } }),
  );
export const listJobEvictions = (id: string) =>
  answer(api.GET("/api/v1/jobs/{id}/evictions", { params: { path: { id }, query: { limit: 50 } } }));
export type RunFilter = Filter<"/api/v1/runs">;
/** Runs that overlap a span, latest placed first. More than `most` are not fetched: `whole` says so. */
export async function listRunsOver(filter: RunFilter, most: number) {
  const items: V.TimelineRun[] = [];
  let cursor: Cursor = null;
  do {
    const query: QueryOf<"/api/v1/runs"> = { ...filter, limit: 1000, ...from(cursor) };
    const page: PageOf<V.TimelineRun> = await answer(api.GET("/api/v1/runs", { params: { query } }));
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return { items, whole: !cursor };
}
export const listPlannedStarts = (filter: Filter<"/api/v1/planned-starts">) =>
  everything(
    (page) => answer(api.GET("/api/v1/planned-starts", { params: { query: { ...filter, ...page } } })),
    5,
  );
export const submitJob = (body: V.JobSpec, key: string) =>
  answer(api.POST("/api/v1/jobs", { params: keyed(key), body }));
export const showPolicy = () => answer(api.GET("/api/v1/policy"));
export const putPolicy = (version: number, body: Record<string, unknown>) =>
  answer(api.PUT("/api/v1/policy", { headers: ifMatch(version), body: body as Record<string, never> }));
export const listPolicyVersions = (cursor?: Cursor) =>
  answer(api.GET("/api/v1/policy/versions", { params: { query: { limit: 20, ...from(cursor) } } }));
export const showEffectivePolicy = (query: QueryOf<"/api/v1/policy/effective">) =>
  answer(api.GET("/api/v1/policy/effective", { params: { query } }));

/** Plans what is only imagined; nothing is written by asking. */
export const askWhatIf = (changes: V.WhatIfChange[]) =>
  answer(api.POST("/api/v1/what-if", { body: { changes } }));
export type JobAct = "cancel" | "hold" | "release" | "requeue";
export const actOnJob = (id: string, act: JobAct, body: { reason?: string } = {}) =>
  answer(api.POST(`/api/v1/jobs/{id}/${act}`, { params: { path: { id }, ...keyed() }, body }));

/** A part of a member's log: bytes, since a part may end inside a character. */
export async function readLog(id: string, query: QueryOf<"/api/v1/jobs/{id}/logs">, signal?: AbortSignal) {
  const { data, response } = await api.GET("/api/v1/jobs/{id}/logs", {
    params: { path: { id }, query },
    parseAs: "arrayBuffer",
    headers: { Accept: "text/plain" },
    ...(signal && { signal }),
  });
  const number = (name: string) => Number(response.headers.get(name) ?? 0);
  return {
    bytes: new Uint8Array(data ?? new ArrayBuffer(0)),
    start: number("Reeve-Log-Start"),
    next: number("Reeve-Log-Next"),
    complete: response.headers.get("Reeve-Log-Complete") === "true",
  };
}
export const logDownloadUrl = (id: string, run: number, member: number) =>
  `/api/v1/jobs/${id}/logs?run=${run}&member=${member}&download=true`;

export const listQueues = (filter: Filter<"/api/v1/queues"> = {}) =>
  everything((page) => answer(api.GET("/api/v1/queues", { params: { query: { ...filter, ...page } } })));
export const showQueue = (queue: string) =>
  answer(api.GET("/api/v1/queues/{queue}", { params: { path: { queue } } }));
export const updateQueue = (queue: V.Queue, body: V.EditQueue) =>
  answer(
    api.PATCH("/api/v1/queues/{queue}", {
      params: { path: { queue: queue.id } },
      headers: ifMatch(queue.version),
      body,
    }),
  );
export const showLine = (queue: string, cursor?: Cursor) =>
  answer(
    api.GET("/api/v1/queues/{queue}/line", {
      params: { path: { queue }, query: { limit: 200, ...from(cursor) } },
    }),
  );

export const listQuotas = (filter: Filter<"/api/v1/quotas"> = {}) =>
  everything((page) => answer(api.GET("/api/v1/quotas", { params: { query: { ...filter, ...page } } })));
export const listPools = () =>
  everything((page) => answer(api.GET("/api/v1/pools", { params: { query: page } })));
export const listTeams = () =>
  everything((page) => answer(api.GET("/api/v1/teams", { params: { query: page } })));
export const listNodes = (filter: Filter<"/api/v1/nodes">) =>
  everything((page) => answer(api.GET("/api/v1/nodes", { params: { query: { ...filter, ...page } } })));
export const editNode = (node: V.Node, body: components["schemas"]["EditNode"]) =>
  answer(
    api.PATCH("/api/v1/nodes/{node}", {
      params: { path: { node: node.id } },
      headers: ifMatch(node.version),
      body,
    }),
  );
export type NodeAct = "cordon" | "uncordon" | "drain";
export const actOnNode = (node: string, act: NodeAct, note?: string) =>
  answer(
    api.POST(`/api/v1/nodes/{node}/${act}`, {
      params: { path: { node }, ...keyed() },
      body: note ? { note } : {},
    }),
  );

export const showLoanMatrix = (pool: string) =>
  answer(api.GET("/api/v1/loans/matrix", { params: { query: { pool } } }));
export const listLoans = (filter: Filter<"/api/v1/loans">) =>
  everything((page) => answer(api.GET("/api/v1/loans", { params: { query: { ...filter, ...page } } })), 20);
export const listReclaims = (filter: Filter<"/api/v1/reclaims">, cursor?: Cursor) =>
  answer(api.GET("/api/v1/reclaims", { params: { query: { ...filter, limit: 20, ...from(cursor) } } }));
export const showReclaim = (id: string) =>
  answer(api.GET("/api/v1/reclaims/{id}", { params: { path: { id } } }));
export const showEviction = (id: string) =>
  answer(api.GET("/api/v1/evictions/{id}", { params: { path: { id } } }));
