// Requests for more than the rules give: priority, quota, budget, protection; who decides them, and what a yes means.
import { answer, api } from "./client";
import { type Cursor, from, ifMatch, keyed, type QueryOf } from "./paging";
import type { components } from "./schema";
import { all } from "./views";

type Schemas = components["schemas"];
export type Escalation = Schemas["EscalationView"];
export type Terms = Schemas["TermsView"];
export type Step = Schemas["StepView"];
export type Seat = Schemas["SeatView"];
export type Preview = Schemas["EscalationPreview"];
export type Request = Schemas["RequestEscalation"];
export type Comment = Schemas["CommentView"];
export type EscalationFilter = Omit<QueryOf<"/api/v1/escalations">, "limit" | "cursor">;

export type EscalationState = Schemas["EscalationState"];

export const ASKS = all<Schemas["AsksFor"]>()("priority", "quota", "budget", "never_evict");
export const ESCALATION_STATES = all<EscalationState>()(
  "requested",
  "in_review",
  "approved",
  "active",
  "expired",
  "revoked",
  "denied",
  "withdrawn",
  "timed_out",
);

export const listApprovals = (cursor: Cursor) =>
  answer(api.GET("/api/v1/approvals", { params: { query: { limit: 50, ...from(cursor) } } }));
export const listEscalations = (filter: EscalationFilter, cursor: Cursor) =>
  answer(api.GET("/api/v1/escalations", { params: { query: { ...filter, limit: 50, ...from(cursor) } } }));
export const showEscalation = (id: string) =>
  answer(api.GET("/api/v1/escalations/{id}", { params: { path: { id } } }));
export const requestEscalation = (body: Request, key: string) =>
  answer(api.POST("/api/v1/escalations", { params: keyed(key), body }));
export const previewRequest = (body: Request) => answer(api.POST("/api/v1/escalations/preview", { body }));
export const previewEscalation = (id: string) =>
  answer(api.GET("/api/v1/escalations/{id}/preview", { params: { path: { id } } }));

/** Decisions hold only for what was read. */
export const approve = (one: Escalation, body: Schemas["Approve"], key: string) =>
  answer(
    api.POST("/api/v1/escalations/{id}/approve", {
      params: { path: { id: one.id }, header: { ...keyed(key).header, ...ifMatch(one.version) } },
      body,
    }),
  );
export const deny = (one: Escalation, comment: string, key: string) =>
  answer(
    api.POST("/api/v1/escalations/{id}/deny", {
      params: { path: { id: one.id }, header: { ...keyed(key).header, ...ifMatch(one.version) } },
      body: { comment },
    }),
  );
const of = (id: string, key: string) => ({ path: { id }, ...keyed(key) });
export const withdraw = (id: string, comment: string | null, key: string) =>
  answer(
    api.POST("/api/v1/escalations/{id}/withdraw", {
      params: of(id, key),
      body: { ...(comment && { comment }) },
    }),
  );
export const revoke = (id: string, comment: string, key: string) =>
  answer(api.POST("/api/v1/escalations/{id}/revoke", { params: of(id, key), body: { comment } }));
export const renew = (id: string, body: Schemas["Renew"], key: string) =>
  answer(api.POST("/api/v1/escalations/{id}/renew", { params: of(id, key), body }));
export const delegate = (id: string, body: Schemas["Delegate"], key: string) =>
  answer(api.POST("/api/v1/escalations/{id}/delegate", { params: of(id, key), body }));
export const review = (id: string, body: Schemas["Review"], key: string) =>
  answer(api.POST("/api/v1/escalations/{id}/review", { params: of(id, key), body }));
export const listComments = (id: string, cursor: Cursor) =>
  answer(
    api.GET("/api/v1/escalations/{id}/comments", {
      params: { path: { id }, query: { limit: 100, ...from(cursor) } },
    }),
  );
export const comment = (id: string, text: string, key: string) =>
  answer(api.POST("/api/v1/escalations/{id}/comments", { params: of(id, key), body: { text } }));
