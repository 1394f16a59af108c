import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { PLATFORM_ROLES } from "./api/admin";
import { ASKS, ESCALATION_STATES } from "./api/approvals";
import { JOB_STATES, KINDS, PRIORITY_CLASSES, REASON_CODES, RECLAIM_STATES } from "./api/views";
import { COST_GROUPS, COST_UNITS } from "./lib/cost-bars";
import { MAP_VIEWS } from "./lib/gpu-map";
import { HISTORY_HOURS } from "./lib/history-hours";
import { isMonth } from "./lib/money";
import { QUEUE_SORTS, QUEUE_VIEWS } from "./lib/quota-filter";
import { oneOf, parseSearch, someOf, stringifySearch, text } from "./lib/search-params";
import { LANES_PX, type RowSize } from "./lib/timeline/find";
import { PAINTS } from "./lib/timeline/paint";
import { WINDOWS } from "./lib/timeline/view";
import { USER_STATES } from "./lib/user-states";
import { BrokenPage } from "./pages/broken";
import { EvictionPage } from "./pages/eviction";
import { JobPage } from "./pages/job";
import { JobsPage } from "./pages/jobs";
import { NodesPage } from "./pages/nodes";
import { NotFoundPage } from "./pages/not-found";
import { OverviewPage } from "./pages/overview";
import { QueuePage } from "./pages/queue";
import { QueuesPage } from "./pages/queues";
import { ReclaimPage } from "./pages/reclaim";
import { ReclaimsPage } from "./pages/reclaims";
import { SubmitPage } from "./pages/submit";
import { TimelinePage } from "./pages/timeline";
import { Shell } from "./shell/shell";

type Raw = Record<string, unknown>;
const month = (value: unknown) => (isMonth(value) ? value : undefined);

/** A filter's names are all optional in links. */
const search =
  <Found extends object>(read: (raw: Raw) => Found) =>
  (raw: Raw): Partial<Found> =>
    read(raw);
const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });

export const overviewRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: OverviewPage,
  validateSearch: search((raw) => ({ pool: text(raw.pool), hours: oneOf(HISTORY_HOURS, raw.hours) })),
});
export const queuesRoute = createRoute({
  getParentRoute: () => root,
  path: "/queues",
  component: QueuesPage,
  validateSearch: search((raw) => ({
    pool: text(raw.pool),
    name: text(raw.name),
    team: text(raw.team),
    view: oneOf(QUEUE_VIEWS, raw.view),
    sort: oneOf(QUEUE_SORTS, raw.sort),
  })),
});
export const queueRoute = createRoute({
  getParentRoute: () => root,
  path: "/queues/$id",
  component: QueuePage,
});
export const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  component: JobsPage,
  validateSearch: search((raw) => ({
    state: someOf(JOB_STATES, raw.state),
    team: text(raw.team),
    queue: text(raw.queue),
    kind: oneOf(KINDS, raw.kind),
    user: text(raw.user),
    pool: text(raw.pool),
    name_contains: text(raw.name_contains),
    reason: oneOf(REASON_CODES, raw.reason),
  })),
});
export const submitRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  component: SubmitPage,
  validateSearch: search((raw) => ({ from: text(raw.from), team: text(raw.team), queue: text(raw.queue) })),
});
export const jobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$id",
  component: JobPage,
  validateSearch: search((raw) => ({ run: text(raw.run), member: text(raw.member) })),
});
export const reclaimsRoute = createRoute({
  getParentRoute: () => root,
  path: "/reclaims",
  component: ReclaimsPage,
  validateSearch: search((raw) => ({
    pool: text(raw.pool),
    team: text(raw.team),
    state: oneOf(RECLAIM_STATES, raw.state),
  })),
});
export const reclaimRoute = createRoute({
  getParentRoute: () => root,
  path: "/reclaims/$id",
  component: ReclaimPage,
});
export const evictionRoute = createRoute({
  getParentRoute: () => root,
  path: "/evictions/$id",
  component: EvictionPage,
});
export const nodesRoute = createRoute({
  getParentRoute: () => root,
  path: "/nodes",
  component: NodesPage,
  validateSearch: search((raw) => ({
    pool: text(raw.pool),
    state: oneOf(["ready", "cordoned", "draining", "lost"] as const, raw.state),
    show: oneOf(["table"] as const, raw.show),
    by: oneOf(MAP_VIEWS, raw.by),
    node: text(raw.node),
  })),
});

const readTimeline = (raw: Raw) => ({
  pool: text(raw.pool),
  team: text(raw.team),
  queue: text(raw.queue),
  kind: oneOf(KINDS, raw.kind),
  window: oneOf(WINDOWS, raw.window),
  from: text(raw.from),
  to: text(raw.to),
  by: oneOf(PAINTS, raw.by),
  rows: oneOf(Object.keys(LANES_PX) as RowSize[], raw.rows),
  show: oneOf(["table"] as const, raw.show),
});
export type TimelineSearch = Partial<ReturnType<typeof readTimeline>>;
export const timelineRoute = createRoute({
  getParentRoute: () => root,
  path: "/timeline",
  component: TimelinePage,
  validateSearch: search(readTimeline),
});
export const idleRoute = createRoute({
  getParentRoute: () => root,
  path: "/idle",
  component: lazyRouteComponent(() => import("./pages/idle"), "IdlePage"),
  validateSearch: search((raw) => ({ team: text(raw.team), over: oneOf(["yes"] as const, raw.over) })),
});
export const calendarRoute = createRoute({
  getParentRoute: () => root,
  path: "/calendar",
  component: lazyRouteComponent(() => import("./pages/calendar"), "CalendarPage"),
  validateSearch: search((raw) => ({
    pool: text(raw.pool),
    team: text(raw.team),
    past: oneOf(["yes"] as const, raw.past),
  })),
});
export const approvalsRoute = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./pages/approvals"), "ApprovalsPage"),
  validateSearch: search((raw) => ({
    view: oneOf(["all"] as const, raw.view),
    state: oneOf(ESCALATION_STATES, raw.state),
    asks_for: oneOf(ASKS, raw.asks_for),
    team: text(raw.team),
    job: text(raw.job),
    mine: oneOf(["yes"] as const, raw.mine),
  })),
});
export const requestRoute = createRoute({
  getParentRoute: () => root,
  path: "/approvals/new",
  component: lazyRouteComponent(() => import("./pages/approvals/request"), "RequestPage"),
  validateSearch: search((raw) => ({
    asks_for: oneOf(ASKS, raw.asks_for),
    job: text(raw.job),
    team: text(raw.team),
    queue: text(raw.queue),
    pool: text(raw.pool),
    budget: text(raw.budget),
    kind: oneOf(KINDS, raw.kind),
    level: oneOf(PRIORITY_CLASSES, raw.level),
  })),
});
export const escalationRoute = createRoute({
  getParentRoute: () => root,
  path: "/approvals/$id",
  component: lazyRouteComponent(() => import("./pages/approvals/escalation"), "EscalationPage"),
});
export const auditRoute = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  component: lazyRouteComponent(() => import("./pages/audit"), "AuditPage"),
  validateSearch: search((raw) => ({
    actor: text(raw.actor),
    action: text(raw.action),
    subject_type: text(raw.subject_type),
    subject_id: text(raw.subject_id),
    request_id: text(raw.request_id),
    team: text(raw.team),
    outcome: oneOf(["allowed", "denied"] as const, raw.outcome),
    from: text(raw.from),
    to: text(raw.to),
  })),
});
export const auditEventRoute = createRoute({
  getParentRoute: () => root,
  path: "/audit/$position",
  component: lazyRouteComponent(() => import("./pages/audit/event"), "AuditEventPage"),
});
export const costRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost",
  component: lazyRouteComponent(() => import("./pages/cost"), "CostPage"),
  validateSearch: search((raw) => ({
    month: month(raw.month),
    team: text(raw.team),
    pool: text(raw.pool),
    by: oneOf(COST_GROUPS, raw.by),
    unit: oneOf(COST_UNITS, raw.unit),
    show: oneOf(["table"] as const, raw.show),
  })),
});
export const budgetsRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost/budgets",
  component: lazyRouteComponent(() => import("./pages/cost/budgets"), "BudgetsPage"),
  validateSearch: search((raw) => ({
    team: text(raw.team),
    state: oneOf(["ok", "near", "exceeded"] as const, raw.state),
  })),
});
export const monthsRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost/months",
  component: lazyRouteComponent(() => import("./pages/cost/months"), "MonthsPage"),
  validateSearch: search((raw) => ({ month: month(raw.month) })),
});
export const statementRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost/statements/$month/$team",
  component: lazyRouteComponent(() => import("./pages/cost/statement"), "StatementPage"),
});
export const pricesRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost/prices",
  component: lazyRouteComponent(() => import("./pages/cost/prices"), "PricesPage"),
});
export const exportsRoute = createRoute({
  getParentRoute: () => root,
  path: "/cost/exports",
  component: lazyRouteComponent(() => import("./pages/cost/exports"), "ExportsPage"),
});
export const accountRoute = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: lazyRouteComponent(() => import("./pages/account"), "AccountPage"),
});
export const adminRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  component: lazyRouteComponent(() => import("./pages/admin"), "AdminPage"),
});
export const policyRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/policy",
  component: lazyRouteComponent(() => import("./pages/policy"), "PolicyPage"),
  validateSearch: search((raw) => ({ as: oneOf(["form", "text"] as const, raw.as) })),
});
export const peopleRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/people",
  component: lazyRouteComponent(() => import("./pages/admin/people"), "PeoplePage"),
  validateSearch: search((raw) => ({
    name: text(raw.name),
    role: oneOf(PLATFORM_ROLES, raw.role),
    state: oneOf(USER_STATES, raw.state),
  })),
});
export const teamsRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/teams",
  component: lazyRouteComponent(() => import("./pages/admin/teams"), "TeamsPage"),
  validateSearch: search((raw) => ({ team: text(raw.team) })),
});
export const poolsRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/pools",
  component: lazyRouteComponent(() => import("./pages/admin/pools"), "PoolsPage"),
});

export const webhooksRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/webhooks",
  component: lazyRouteComponent(() => import("./pages/admin/webhooks"), "WebhooksPage"),
  validateSearch: search((raw) => ({
    team: text(raw.team),
    hook: text(raw.hook),
    state: oneOf(["pending", "delivered", "failed", "cancelled"] as const, raw.state),
  })),
});
export const oidcRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/oidc",
  component: lazyRouteComponent(() => import("./pages/admin/oidc"), "OidcPage"),
});
export const workloadRoute = createRoute({
  getParentRoute: () => root,
  path: "/admin/workload",
  component: lazyRouteComponent(() => import("./pages/admin/workload"), "WorkloadPage"),
});
export const router = createRouter({
  routeTree: root.addChildren([
    overviewRoute,
    queuesRoute,
    queueRoute,
    jobsRoute,
    submitRoute,
    jobRoute,
    reclaimsRoute,
    reclaimRoute,
    evictionRoute,
    nodesRoute,
    idleRoute,
    timelineRoute,
    calendarRoute,
    approvalsRoute,
    requestRoute,
    escalationRoute,
    auditRoute,
    auditEventRoute,
    costRoute,
    budgetsRoute,
    monthsRoute,
    statementRoute,
    pricesRoute,
    exportsRoute,
    accountRoute,
    adminRoute,
    policyRoute,
    peopleRoute,
    teamsRoute,
    poolsRoute,
    webhooksRoute,
    oidcRoute,
    workloadRoute,
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  defaultErrorComponent: BrokenPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
