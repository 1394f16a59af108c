// How GPUs are used, and jobs whose GPUs compute nothing.
import { answer, api } from "./client";
import { type Cursor, from, keyed, type QueryOf } from "./paging";
import type { components } from "./schema";

export type JobUse = components["schemas"]["JobUseView"];
export type NodeUse = components["schemas"]["NodeUseView"];
export type IdleNotice = components["schemas"]["IdleNoticeView"];
export type Idle = components["schemas"]["IdleView"];

/** The hours before now: the server takes no longer span than 31 days. */
const since = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

export const showJobUse = (id: string, hours: number) =>
  answer(api.GET("/api/v1/jobs/{id}/use", { params: { path: { id }, query: { from: since(hours) } } }));
export const showNodeUse = (node: string, hours: number) =>
  answer(api.GET("/api/v1/nodes/{node}/use", { params: { path: { node }, query: { from: since(hours) } } }));
export const listIdle = (filter: Pick<QueryOf<"/api/v1/idle-notices">, "team" | "closed">, cursor: Cursor) =>
  answer(api.GET("/api/v1/idle-notices", { params: { query: { ...filter, limit: 50, ...from(cursor) } } }));
/** Nothing happens to the job for so much longer; its idle rule bounds the sum. */
export const snoozeJob = (id: string, secs: number) =>
  answer(api.POST("/api/v1/jobs/{id}/snooze", { params: { path: { id }, ...keyed() }, body: { secs } }));
