// The audit log: who decided what and when, and up to where the chain has been verified.
import { answer, api } from "./client";
import { type Cursor, from, type QueryOf } from "./paging";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type AuditEvent = Schemas["AuditEventView"];
export type AuditStatus = Schemas["AuditStatusView"];
export type AuditFilter = Omit<QueryOf<"/api/v1/audit">, "limit" | "cursor">;

export const listAudit = (filter: AuditFilter, cursor: Cursor, limit = 50) =>
  answer(api.GET("/api/v1/audit", { params: { query: { ...filter, limit, ...from(cursor) } } }));
export const showAuditEvent = (position: number) =>
  answer(api.GET("/api/v1/audit/{position}", { params: { path: { position } } }));
export const showAuditStatus = () => answer(api.GET("/api/v1/audit/status"));
export const listCheckpoints = (cursor: Cursor) =>
  answer(api.GET("/api/v1/audit/checkpoints", { params: { query: { limit: 20, ...from(cursor) } } }));

/** The whole of what the filter matches, as the server streams it: a link of the browser's own. */
export function auditExportUrl(filter: AuditFilter, format: "csv" | "jsonl"): string {
  const query = new URLSearchParams({ format });
  if (format === "csv") query.set("bom", "true");
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, String(value));
  return `/api/v1/audit/export?${query}`;
}
