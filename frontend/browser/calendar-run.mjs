/** The calendar: a reservation and a maintenance window are made, refused at their field, outlined, and withdrawn. */
export async function calendarRun(page, site, fail) {
  const list = (path) =>
    page.evaluate(async (asked) => (await (await fetch(`/api/v1${asked}`)).json()).items, path);
  const note = `browser-${Date.now()}`;
  const submit = () => page.locator(".form-panel button[type=submit]").click();
  const select = async (label, text) => {
    await page.locator(".form-panel").getByLabel(label, { exact: true }).click();
    const open = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)");
    await open.locator(".ant-select-item-option", { hasText: text }).first().click();
  };
  const pool = (await list("/pools?limit=1"))[0].slug;
  const team = (await list("/teams?limit=1"))[0];

  await page.goto(`${site.base}/calendar`);
  await page.getByRole("button", { name: "Reserve GPUs" }).first().click();
  await page.locator(".form-panel input").first().waitFor();
  await select("Team", team.name);
  await select("Pool", pool);
  await page.getByLabel("GPUs", { exact: true }).fill("100000");
  await page.getByLabel("Note").fill(note);
  await submit();
  // More than the pool has: said at the field.
  await page.locator(".ant-form-item-has-error #gpus").waitFor();
  await page.getByLabel("GPUs", { exact: true }).fill("1");
  await submit();
  await page.locator("td", { hasText: note }).waitFor();

  await page.getByRole("button", { name: "Plan maintenance" }).first().click();
  const node = (await list(`/nodes?limit=1&pool=${pool}`))[0].name;
  await page.locator(".form-panel").getByLabel("Nodes", { exact: true }).click();
  await page
    .locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden) .ant-select-item-option")
    .filter({ hasText: node })
    .first()
    .click();
  await page.keyboard.press("Escape");
  // Far ahead, so that no job of the demo is kept from starting.
  const far = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 16);
  const farther = new Date(Date.now() + 30 * 86_400_000 + 7_200_000).toISOString().slice(0, 16);
  await page.getByLabel("Begins").fill(far);
  await page.getByLabel("Ends").fill(farther);
  await page.getByLabel("Note").fill(`${note}-fans`);
  await submit();
  await page.locator("td", { hasText: `${note}-fans` }).waitFor();

  await outlined(page, site, fail, pool, note, far);

  // Both are withdrawn, asked back each time.
  await page.goto(`${site.base}/calendar?pool=${pool}`);
  for (const row of [`${note}-fans`, note]) {
    const line = page.locator("tr", { hasText: row }).first();
    await line.getByRole("button").click();
    await page.locator("dialog[open] button").last().click();
    await page
      .locator("tr", { hasText: row === note ? note : `${note}-fans` })
      .first()
      .waitFor({ state: "detached" });
  }
  const left = [
    ...(await list("/reservations?limit=200")),
    ...(await list("/maintenance-windows?limit=200")),
  ];
  if (left.some((one) => one.note.startsWith(note))) fail("/calendar", "what was withdrawn is still there");
}

/** The timeline outlines both, and says them in words. */
async function outlined(page, site, fail, pool, note, far) {
  const from = new Date(Date.now() - 600_000).toISOString();
  const to = new Date(Date.now() + 4 * 3_600_000).toISOString();
  await page.goto(`${site.base}/timeline?pool=${pool}&from=${from}&to=${to}`);
  await page.locator("canvas[data-drawn]").waitFor();
  await page.locator("td", { hasText: note }).first().waitFor();
  await page.locator(".timeline-scroll").focus();
  await page.keyboard.press("Home");
  const said = (await page.locator(".timeline-section output").textContent()) ?? "";
  if (!/Reserved for/.test(said)) fail("/timeline", `the reservation is not the first bar: ${said}`);
  const later = `${new Date(Date.parse(`${far}Z`) - 3_600_000).toISOString()}`;
  const end = `${new Date(Date.parse(`${far}Z`) + 3_600_000).toISOString()}`;
  await page.goto(`${site.base}/timeline?pool=${pool}&from=${later}&to=${end}`);
  await page
    .locator("td", { hasText: `${note}-fans` })
    .first()
    .waitFor();
  // Nothing runs there yet: what is drawn is the outline.
  const drawn = page.locator("canvas[data-drawn]");
  await drawn.waitFor();
  await page
    .waitForFunction(() => Number(document.querySelector("canvas")?.dataset.drawn) > 0, null, {
      timeout: 10_000,
    })
    .catch(() => fail("/timeline", "the maintenance is not outlined"));
}
