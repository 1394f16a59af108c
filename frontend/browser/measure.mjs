// How long the node map takes with 2,048 GPUs: from the answer's arrival to the drawn canvas, in a real Chromium.
// The nodes are made up here (256 × 8), everything else is the running server's. Prints; asserts nothing.
// BASE_URL, REEVE_USER, REEVE_PASSWORD; SHOT = a picture's file.
import { launch, prefer, signIn } from "./chromium.mjs";

const site = {
  base: process.env.BASE_URL,
  user: process.env.REEVE_USER ?? "lin",
  password: process.env.REEVE_PASSWORD ?? "reeve",
};
const NODES = 256;
const teams = ["vision", "speech", "search", "recsys", "nlp"].map((slug) => ({ id: slug, slug, name: slug }));
const gpu = (node, index) => {
  const at = node * 8 + index;
  const free = at % 7 === 0;
  const team = teams[(node >> 2) % teams.length];
  return {
    id: `g${at}`,
    index,
    uuid: `GPU-${at}`,
    model: "A100-80G",
    memory_mib: 81_920,
    free_milli: free ? 1000 : at % 31 === 0 ? 400 : 0,
    free_memory_mib: 0,
    health: at % 211 === 5 ? "sick" : "healthy",
    health_detail: null,
    jobs: free ? [] : [{ id: `j${node}`, name: `job-${node}`, team }],
  };
};
const nodes = Array.from({ length: NODES }, (_, at) => ({
  id: `n${at}`,
  name: `gpu-${at + 1}`,
  pool: { id: "p", slug: "a100-80g" },
  state: at % 50 === 9 ? "draining" : at % 60 === 7 ? "lost" : "ready",
  state_note: null,
  cpu_milli: 128_000,
  free_cpu_milli: 64_000,
  memory_mib: 1_048_576,
  free_memory_mib: 524_288,
  labels: {},
  topology: {},
  rdma: true,
  agent_version: "0.1.0",
  last_seen_at: new Date().toISOString(),
  version: 1,
  gpus: Array.from({ length: 8 }, (_, index) => gpu(at, index)),
}));

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await prefer(context, "en", "light");
const page = await context.newPage();
await page.addInitScript(() => {
  new MutationObserver((changes) => {
    if (changes.some((one) => one.attributeName === "data-drawn")) globalThis.drawnAt ??= performance.now();
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-drawn"] });
});
await signIn(page, site);
await page.route("**/api/v1/nodes?*", (route) => {
  const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
  const items = nodes.slice(from, from + 200);
  const next_cursor = from + 200 < nodes.length ? String(from + 200) : null;
  return route.fulfill({ json: { items, next_cursor } });
});
for (let round = 0; round < 5; round += 1) {
  await page.goto(`${site.base}/nodes`);
  await page.locator(`canvas[data-drawn="${NODES}"]`).waitFor();
  const ms = await page.evaluate(() => {
    const asked = performance
      .getEntriesByType("resource")
      .filter((one) => one.name.includes("/api/v1/nodes"));
    return globalThis.drawnAt - Math.max(...asked.map((one) => one.responseEnd));
  });
  console.log(`map of ${NODES * 8} GPUs: ${ms.toFixed(0)} ms from the last answer to the drawn picture`);
}
if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
await browser.close();
