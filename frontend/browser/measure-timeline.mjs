// How smooth the timeline is with 2,048 GPUs and 10,000 bars: milliseconds from the last answer to the drawn picture, and
// frames a second while it is dragged, zoomed and scrolled, in a real Chromium. The runs are made up here, everything else
// is the running server's. Prints; asserts nothing.
// BASE_URL, REEVE_USER, REEVE_PASSWORD; SHOT = a picture's file; BARS, NODES = other sizes.
import { launch, prefer, signIn } from "./chromium.mjs";

const site = {
  base: process.env.BASE_URL,
  user: process.env.REEVE_USER ?? "lin",
  password: process.env.REEVE_PASSWORD ?? "reeve",
};
const NODES = Number(process.env.NODES ?? 256);
const BARS = Number(process.env.BARS ?? 10_000);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WIDTHS = [1, 1, 2, 2, 4, 8];
const KINDS = ["training", "inference", "experiment", "evaluation", "batch"];
const teams = ["vision", "speech", "search", "recsys", "nlp", "robotics"].map((slug) => ({
  id: slug,
  slug,
  name: slug,
}));
const now = Date.now();
const iso = (ms) => new Date(ms).toISOString();
const nodeRef = (at) => ({ id: `n${at}`, name: `gpu-${at + 1}` });
const nodes = Array.from({ length: NODES }, (_, at) => ({
  ...nodeRef(at),
  pool: { id: "p", slug: "made-up" },
  state: "ready",
  gpus: Array.from({ length: 8 }, (_, index) => ({
    id: `g${at}-${index}`,
    index,
    free_milli: 0,
    health: "healthy",
    jobs: [],
  })),
}));

/** Runs laid beside one another on each node's GPUs through the last day; the last of each lane still runs. */
function makeRuns() {
  const perNode = Math.ceil(BARS / NODES);
  const runs = [];
  for (let node = 0; node < NODES && runs.length < BARS; node += 1) {
    const free = Array(8).fill(now - DAY);
    for (let n = 0; n < perNode && runs.length < BARS; n += 1) {
      const wide = WIDTHS[(node * 7 + n * 3) % WIDTHS.length];
      const first = ((n * 5) % ((8 / wide) | 0)) * wide;
      const lanes = Array.from({ length: wide }, (_, at) => first + at);
      const from = Math.max(...lanes.map((lane) => free[lane])) + 60_000;
      const lasts = (0.4 + ((node * 13 + n * 29) % 40) / 10) * HOUR * (wide / 4 + 0.5);
      const open = from + lasts > now;
      for (const lane of lanes) free[lane] = from + lasts;
      runs.push(makeRun(runs.length, node, n, lanes, Math.min(from, now), open ? null : from + lasts));
    }
  }
  return runs.sort((a, b) => b.placed_at.localeCompare(a.placed_at));
}

function makeRun(at, node, n, lanes, from, to) {
  const team = teams[(node + n) % teams.length];
  const evicted = to !== null && at % 11 === 0;
  return {
    id: `r${at}`,
    job: { id: `j${at}`, name: `${team.slug}-${KINDS[n % 5]}-${at}`, team },
    number: 1,
    kind: KINDS[n % 5],
    priority_class: "normal",
    state: to === null ? "running" : evicted ? "evicted" : at % 17 === 0 ? "failed" : "succeeded",
    pool: { id: "p", slug: "made-up" },
    borrowed_gpus: to === null ? (at % 4 === 0 ? lanes.length : 0) : null,
    placed_at: iso(from),
    started_at: iso(from),
    ended_at: to === null ? null : iso(to),
    limit_at: to === null && at % 3 === 0 ? iso(now + 2 * HOUR) : null,
    leave_cause: null,
    leave_by: null,
    members: [
      {
        member: 0,
        node: nodeRef(node),
        gpu_indices: lanes,
        gpu_milli: lanes.length * 1000,
        placed_at: iso(from),
        released_at: to === null ? null : iso(to),
      },
    ],
    evictions: evicted
      ? [{ id: `e${at}`, cause: "reclaim", outcome: "requeued", members: [0], notified_at: iso(to) }]
      : [],
  };
}

const runs = makeRuns();
const paged = (all) => (route) => {
  const query = new URL(route.request().url()).searchParams;
  const from = Number(query.get("cursor") ?? 0);
  const limit = Number(query.get("limit") ?? 50);
  const next_cursor = from + limit < all.length ? String(from + limit) : null;
  return route.fulfill({ json: { items: all.slice(from, from + limit), next_cursor } });
};
const live = runs.filter((run) => run.ended_at === null);

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await prefer(context, "en", "light");
const page = await context.newPage();
page.on("pageerror", (error) => console.log(`page error: ${error.message}`));
await page.addInitScript(
  (bars) =>
    new MutationObserver(() => {
      const canvas = document.querySelector("canvas[data-bars]");
      if (Number(canvas?.dataset.bars) >= bars) globalThis.drawnAt ??= performance.now();
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-bars"] }),
  runs.length,
);
await signIn(page, site);
await page.route("**/api/v1/nodes?*", paged(nodes));
// The span that is fetched once ends in the future; what is asked again and again ends now.
await page.route("**/api/v1/runs?*", (route) =>
  paged(new URL(route.request().url()).searchParams.has("to") ? runs : live)(route),
);

for (let round = 0; round < 5; round += 1) {
  await page.goto(`${site.base}/timeline?window=24h`);
  await page.waitForFunction(() => globalThis.drawnAt);
  const ms = await page.evaluate(() => {
    const asked = performance
      .getEntriesByType("resource")
      .filter(
        (one) =>
          /\/api\/v1\/(runs\?.*[?&]to=|nodes\?)/.test(one.name) && one.responseEnd < globalThis.drawnAt,
      );
    return globalThis.drawnAt - Math.max(...asked.map((one) => one.responseEnd));
  });
  console.log(
    `${NODES * 8} GPUs, ${runs.length} bars: ${ms.toFixed(0)} ms from the last answer to the drawn picture`,
  );
}

/** Frames while `act` goes on: how many a second, and the longest. */
async function frames(name, act) {
  await page.evaluate(() => {
    globalThis.frames = [];
    globalThis.watching = true;
    let before = performance.now();
    const next = (at) => {
      globalThis.frames.push(at - before);
      before = at;
      if (globalThis.watching) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await act();
  const found = await page.evaluate(() => {
    globalThis.watching = false;
    return globalThis.frames.slice(1);
  });
  const all = found.reduce((sum, one) => sum + one, 0);
  const sorted = [...found].sort((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)];
  console.log(
    `${name}: ${((found.length / all) * 1000).toFixed(0)} frames/s over ${(all / 1000).toFixed(1)} s, 95 % within ${p95.toFixed(0)} ms, longest ${sorted.at(-1).toFixed(0)} ms`,
  );
}

const canvas = page.locator(".timeline-canvas");
const box = await canvas.boundingBox();
const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
await frames("pointer over the bars", async () => {
  for (let at = 0; at < 120; at += 1) await page.mouse.move(box.x + 180 + at * 8, middle.y + (at % 20) * 5);
});
await frames("drag", async () => {
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  for (let at = 0; at < 120; at += 1) await page.mouse.move(middle.x + Math.sin(at / 15) * 300, middle.y);
  await page.mouse.up();
});
await frames("zoom", async () => {
  await page.keyboard.down("Control");
  for (let at = 0; at < 80; at += 1) await page.mouse.wheel(0, at < 40 ? -12 : 12);
  await page.keyboard.up("Control");
});
await page.mouse.move(middle.x, middle.y);
await frames("scroll through the rows", async () => {
  for (let at = 0; at < 120; at += 1) await page.mouse.wheel(0, 90);
});
await page.locator(".timeline-scroll").focus();
await page.keyboard.press("Home");
await frames("arrow keys", async () => {
  for (let at = 0; at < 60; at += 1) await page.keyboard.press(at % 3 ? "ArrowRight" : "ArrowDown");
});
if (process.env.SHOT) {
  await page.goto(`${site.base}/timeline?window=24h`);
  await page.waitForFunction(() => globalThis.drawnAt);
  await page.mouse.move(middle.x, middle.y);
  await page.waitForTimeout(300);
  await page.screenshot({ path: process.env.SHOT });
}
await browser.close();
