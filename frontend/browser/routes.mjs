/** Every page's address, with real ids where the server has something to show. Run in a signed-in page. */
export async function findRoutes(page) {
  const first = (path) =>
    page.evaluate(async (asked) => {
      const response = await fetch(`/api/v1${asked}`);
      return response.ok ? ((await response.json()).items[0] ?? null) : null;
    }, path);
  const routes = {
    overview: "/",
    "overview-week": "/?hours=168",
    queues: "/queues",
    "queues-borrowing": "/queues?view=borrowing&sort=borrowed",
    jobs: "/jobs",
    "jobs-new": "/jobs/new",
    reclaims: "/reclaims",
    nodes: "/nodes",
    "nodes-table": "/nodes?show=table",
    idle: "/idle",
    "idle-over": "/idle?over=yes",
    timeline: "/timeline?window=1h",
    "timeline-gpus": "/timeline?window=24h&by=kind&rows=gpus",
    "timeline-table": "/timeline?show=table",
    approvals: "/approvals",
    "approvals-all": "/approvals?view=all",
    "approvals-new": "/approvals/new?asks_for=quota",
    "approvals-budget": "/approvals/new?asks_for=budget",
    audit: "/audit",
    "audit-denied": "/audit?outcome=denied",
    "audit-one": "/audit/1",
    cost: "/cost",
    "cost-money": "/cost?unit=money&by=day",
    "cost-table": "/cost?show=table",
    "cost-budgets": "/cost/budgets",
    "cost-months": "/cost/months",
    "cost-prices": "/cost/prices",
    "cost-exports": "/cost/exports",
    calendar: "/calendar",
    "calendar-past": "/calendar?past=yes",
    account: "/account",
    admin: "/admin",
    policy: "/admin/policy",
    "policy-text": "/admin/policy?as=text",
    people: "/admin/people",
    teams: "/admin/teams",
    pools: "/admin/pools",
    webhooks: "/admin/webhooks",
    oidc: "/admin/oidc",
    workload: "/admin/workload",
    "not-found": "/no-such-page",
  };
  const node = await first("/nodes?limit=1");
  if (node) routes["nodes-one"] = `/nodes?by=health&node=${node.name}`;
  const team = await first("/teams?limit=1");
  if (team) routes["teams-one"] = `/admin/teams?team=${team.slug}`;
  const escalation = await first("/escalations?limit=1");
  if (escalation) routes.escalation = `/approvals/${escalation.id}`;
  const queue = await first("/queues?limit=1");
  if (queue) routes.queue = `/queues/${queue.id}`;
  for (const state of ["queued", "running", "failed"]) {
    const job = await first(`/jobs?state=${state}&limit=1`);
    if (job) routes[`job-${state}`] = `/jobs/${job.id}`;
  }
  const job = await first("/jobs?limit=1");
  if (job) {
    routes.clone = `/jobs/new?from=${job.id}`;
    // Of a team that has used something.
    routes.statement = `/cost/statements/${new Date().toISOString().slice(0, 7)}/${job.team.slug}`;
  }
  const reclaim = await first("/reclaims?limit=1");
  if (reclaim) {
    routes.reclaim = `/reclaims/${reclaim.id}`;
    if (reclaim.evictions[0]) routes.eviction = `/evictions/${reclaim.evictions[0].id}`;
  }
  return routes;
}
