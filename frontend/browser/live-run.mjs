import { prefer, signIn } from "./chromium.mjs";
import { openWay } from "./way.mjs";

const CHANGE_MS = 90_000;
/** Below the pages' own look-again interval: what changes sooner was told by the stream. */
const SOON_MS = 20_000;

/** Asks the API as the signed-in page. */
const ask = (page, path, body) =>
  page.evaluate(
    async ([asked, sent]) => {
      const response = await fetch(`/api/v1${asked}`, {
        method: sent ? "POST" : "GET",
        headers: sent ? { "Content-Type": "application/json" } : {},
        body: sent ? JSON.stringify(sent) : null,
      });
      if (!response.ok) throw new Error(`${asked}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    [path, body],
  );

/** Opens a page, remembers what the part says, and marks the document: a reload or navigation loses the mark. */
async function watch(context, site, route, part) {
  const page = await context.newPage();
  await page.goto(site.base + route);
  await page.locator(".live.live").waitFor();
  await page.locator(part).first().waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  const text = (await page.locator(part).allTextContents()).join("\n");
  await page.evaluate(() => {
    globalThis.neverReloaded = true;
  });
  return { page, route, part, text };
}

/** Waits until the part says something else, and tells whether the document is still the same one. */
async function changes({ page, route, part, text }, within, fail) {
  const changed = await page
    .waitForFunction(
      ([selector, before]) =>
        [...document.querySelectorAll(selector)].map((one) => one.textContent).join("\n") !== before,
      [part, text],
      { timeout: within, polling: 250 },
    )
    .then(() => true)
    .catch(() => false);
  if (!changed) fail(route, `${part} did not change within ${within / 1000} s`);
  if (!(await page.evaluate(() => globalThis.neverReloaded === true)))
    fail(route, "the page was loaded again");
}

/** Pages follow the server without a reload, and over a lost connection nothing is missed. */
export async function liveRun(browser, site, fail) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  await prefer(context, "en", "light");
  const first = await context.newPage();
  await signIn(first, site);

  // The demo lends, recalls and ends jobs all the time. Only what the server says counts: no part has a clock in it.
  const watched = [
    await watch(context, site, "/", ".quota-words"),
    await watch(context, site, "/queues", "table .bare .nowrap"),
    await watch(context, site, "/reclaims", "table.matrix, .nothing, .reclaim-head a"),
  ];
  await Promise.all(watched.map((one) => changes(one, CHANGE_MS, fail)));
  for (const { page } of watched) await page.close();

  // A job that this test submits, held: it shows by itself in a list that filters for its name.
  const team = process.env.REEVE_TEAM ?? (await ask(first, "/queues?limit=1")).items[0].team.slug;
  const submit = (name) => ask(first, "/jobs", { name, team, gpus: 1, hold: true, command: ["true"] });
  const name = `live-${Date.now()}`;
  const list = await watch(context, site, `/jobs?name_contains=${name}`, ".nothing, td .name");
  const job = await submit(name);
  await changes(list, SOON_MS, fail);
  await list.page.locator("td .name", { hasText: name }).waitFor();

  await cutOff(browser, site, fail, `${name}-missed`, submit);
  await ask(first, `/jobs/${job.id}/cancel`, {});
  await context.close();
}

/** The server goes away: the header says so and how old the page is. Back again, what was missed is there. */
async function cutOff(browser, site, fail, name, submit) {
  const way = await openWay(site.base);
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  try {
    await prefer(context, "en", "light");
    const page = await context.newPage();
    await signIn(page, { ...site, base: way.base });
    await page.goto(`${way.base}/jobs?name_contains=${name}`);
    await page.locator(".live.live").waitFor();
    await page.locator(".nothing").waitFor();
    await page.evaluate(() => {
      globalThis.neverReloaded = true;
    });
    await way.cut();
    await page.locator(".live.lost", { hasText: /reconnecting, data .* old/ }).waitFor({ timeout: SOON_MS });
    const missed = await submit(name);
    await way.mend();
    await page.locator("td .name", { hasText: name }).waitFor({ timeout: CHANGE_MS });
    await page.locator(".live.live").waitFor();
    if (!(await page.evaluate(() => globalThis.neverReloaded === true)))
      fail("/jobs", "the page was loaded again");
    await ask(page, `/jobs/${missed.id}/cancel`, {});
  } finally {
    await context.close();
    await way.cut();
  }
}
