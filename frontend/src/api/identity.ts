// Sessions, sign-in by other providers, programs that sign in by rule, and who is told of what.
import { answer, api } from "./client";
import { type Cursor, everything, from, keyed } from "./paging";
import type { components } from "./schema";
import { all } from "./views";

type Schemas = components["schemas"];
export type Session = Schemas["SessionView"];
export type OidcProvider = Schemas["OidcProviderView"];
export type OidcCheck = Schemas["OidcCheck"];
export type WorkloadRule = Schemas["WorkloadRuleView"];
export type Webhook = Schemas["WebhookView"];
export type Delivery = Schemas["DeliveryView"];
export type DeliveryDetail = Schemas["DeliveryDetailView"];
export type Notifications = Schemas["MyNotificationsView"];
export type TeamNotifications = Schemas["TeamNotificationsView"];

export const SWITCHES = ["enabled", "disabled"] as const;
export type DeliveryState = Schemas["DeliveryState"];
export type Topic = Schemas["NotificationTopic"];
export type Setting = Schemas["NotificationSetting"];
export const WEBHOOK_KINDS = all<Schemas["WebhookKind"]>()("webhook", "feishu", "dingtalk", "wecom", "slack");
export const DELIVERY_STATES = all<DeliveryState>()("pending", "delivered", "failed", "cancelled");
export const SETTINGS = all<Setting>()("off", "own", "team");

export const listSessions = (cursor: Cursor) =>
  answer(api.GET("/api/v1/sessions", { params: { query: { limit: 50, ...from(cursor) } } }));
export const endSession = (id: string) =>
  answer(api.DELETE("/api/v1/sessions/{id}", { params: { path: { id } } }));
export const endOtherSessions = () =>
  answer(api.POST("/api/v1/sessions/revoke-others", { params: keyed(), body: {} }));

export const listProviders = () =>
  everything((page) => answer(api.GET("/api/v1/oidc-providers", { params: { query: page } })));
export const createProvider = (body: Schemas["CreateOidcProvider"], key: string) =>
  answer(api.POST("/api/v1/oidc-providers", { params: keyed(key), body }));
export const editProvider = (provider: string, body: Schemas["EditOidcProvider"]) =>
  answer(api.PATCH("/api/v1/oidc-providers/{provider}", { params: { path: { provider } }, body }));
export const deleteProvider = (provider: string) =>
  answer(api.DELETE("/api/v1/oidc-providers/{provider}", { params: { path: { provider } } }));
export const checkProvider = (provider: string) =>
  answer(
    api.POST("/api/v1/oidc-providers/{provider}/check", {
      params: { path: { provider }, ...keyed() },
      body: {},
    }),
  );

export const listWorkloadRules = () =>
  everything((page) => answer(api.GET("/api/v1/workload-rules", { params: { query: page } })));
export const createWorkloadRule = (body: Schemas["CreateWorkloadRule"], key: string) =>
  answer(api.POST("/api/v1/workload-rules", { params: keyed(key), body }));
export const editWorkloadRule = (rule: string, body: Schemas["EditWorkloadRule"]) =>
  answer(api.PATCH("/api/v1/workload-rules/{rule}", { params: { path: { rule } }, body }));
export const deleteWorkloadRule = (rule: string) =>
  answer(api.DELETE("/api/v1/workload-rules/{rule}", { params: { path: { rule } } }));

export const listWebhooks = (team: string | undefined) =>
  everything((page) => answer(api.GET("/api/v1/webhooks", { params: { query: { team, ...page } } })));
export const createWebhook = (body: Schemas["CreateWebhook"], key: string) =>
  answer(api.POST("/api/v1/webhooks", { params: keyed(key), body }));
export const editWebhook = (id: string, body: Schemas["EditWebhook"]) =>
  answer(api.PATCH("/api/v1/webhooks/{id}", { params: { path: { id } }, body }));
export const deleteWebhook = (id: string) =>
  answer(api.DELETE("/api/v1/webhooks/{id}", { params: { path: { id } } }));
export const testWebhook = (id: string) =>
  answer(api.POST("/api/v1/webhooks/{id}/test", { params: { path: { id }, ...keyed() }, body: {} }));
export const rotateSecret = (id: string) =>
  answer(api.POST("/api/v1/webhooks/{id}/rotate-secret", { params: { path: { id }, ...keyed() }, body: {} }));
export const listDeliveries = (id: string, state: DeliveryState | undefined, cursor: Cursor) =>
  answer(
    api.GET("/api/v1/webhooks/{id}/deliveries", {
      params: { path: { id }, query: { ...(state && { state: [state] }), limit: 50, ...from(cursor) } },
    }),
  );
export const showDelivery = (id: string, delivery: string) =>
  answer(api.GET("/api/v1/webhooks/{id}/deliveries/{delivery}", { params: { path: { id, delivery } } }));
export const resendDelivery = (id: string, delivery: string) =>
  answer(
    api.POST("/api/v1/webhooks/{id}/deliveries/{delivery}/resend", {
      params: { path: { id, delivery }, ...keyed() },
      body: {},
    }),
  );

export const showNotifications = () => answer(api.GET("/api/v1/me/notifications"));
export const putNotifications = (body: Schemas["PutNotifications"]) =>
  answer(api.PUT("/api/v1/me/notifications", { body }));
export const showTeamNotifications = (team: string) =>
  answer(api.GET("/api/v1/teams/{team}/notifications", { params: { path: { team } } }));
export const putTeamNotifications = (team: string, body: Schemas["PutNotifications"]) =>
  answer(api.PUT("/api/v1/teams/{team}/notifications", { params: { path: { team } }, body }));
