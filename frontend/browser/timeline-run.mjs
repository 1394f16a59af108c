/** The timeline: by keys and by pointer to a job, the same runs in the table, a window that survives a reload, live. */
export async function timelineRun(page, site, fail) {
  const said = page.locator(".timeline-section output");
  const picture = page.locator(".timeline-scroll");
  const drawn = () => page.locator("canvas[data-drawn]").waitFor();

  await page.goto(`${site.base}/timeline?window=15m`);
  await drawn();
  await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.bars) > 0);
  await picture.focus();
  await page.keyboard.press("Home");
  const first = (await said.textContent()) ?? "";
  if (first.length < 20) fail("/timeline", `the first bar says only ${JSON.stringify(first)}`);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const third = (await said.textContent()) ?? "";
  if (third === first) fail("/timeline", "arrow keys do not leave the first bar");

  // Where the focused bar is, the pointer finds the same one.
  const mark = await page.locator(".bar-mark").boundingBox();
  const name = (await page.locator(".bar-card strong").textContent()) ?? "";
  await page.keyboard.press("Escape");
  if (await page.locator(".bar-card").count()) fail("/timeline", "Escape leaves the card");
  const at = { x: mark.x + mark.width / 2, y: mark.y + mark.height / 2 };
  await page.mouse.move(at.x, at.y);
  await page.locator(".bar-card strong", { hasText: name }).waitFor();
  await page.mouse.click(at.x, at.y);
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
  await page.locator("main h1", { hasText: name }).waitFor();

  await page.goBack();
  await drawn();
  await picture.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);

  // An own span lives in the address, and survives a reload with what it shows.
  await page.goto(`${site.base}/timeline?window=15m`);
  await drawn();
  await picture.focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await page.waitForURL(/from=.*&to=/);
  const address = page.url();
  await page.reload();
  await drawn();
  if (page.url() !== address) fail("/timeline", `the address changed on reload: ${address} → ${page.url()}`);
  if (!(await page.locator("input[type=datetime-local]").first().inputValue()))
    fail("/timeline", "an own span shows no moments to edit");

  await tableSaysTheSame(page, site, fail);
  await follows(page, site, fail);
}

/** The table has the runs that the API tells of the span. */
async function tableSaysTheSame(page, site, fail) {
  const to = new Date(Date.now() - 60_000).toISOString();
  const from = new Date(Date.now() - 600_000).toISOString();
  const wanted = await page.evaluate(
    async ([since, until]) => {
      const pool = (await (await fetch("/api/v1/pools?limit=1")).json()).items[0].slug;
      const answer = await fetch(`/api/v1/runs?limit=1000&pool=${pool}&from=${since}&to=${until}`);
      return { pool, count: (await answer.json()).items.length };
    },
    [from, to],
  );
  await page.goto(`${site.base}/timeline?show=table&pool=${wanted.pool}&from=${from}&to=${to}`);
  await page.locator("table.plain").first().waitFor();
  const rows = Number(await page.locator("table.plain").first().getAttribute("aria-rowcount")) - 1;
  if (rows !== wanted.count) fail("/timeline?show=table", `${rows} rows, the API has ${wanted.count}`);
}

/** Bars come by themselves: the demo starts and ends jobs all the time. */
async function follows(page, site, fail) {
  await page.goto(`${site.base}/timeline?window=15m`);
  await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.bars) > 0);
  await page.evaluate(() => {
    globalThis.neverReloaded = true;
    globalThis.barsBefore = document.querySelector("canvas").dataset.bars;
  });
  const came = await page
    .waitForFunction(() => document.querySelector("canvas")?.dataset.bars !== globalThis.barsBefore, null, {
      timeout: 90_000,
    })
    .then(() => true)
    .catch(() => false);
  if (!came) fail("/timeline", "no bar came or went within 90 s");
  if (!(await page.evaluate(() => globalThis.neverReloaded === true)))
    fail("/timeline", "the page was loaded again");
}
