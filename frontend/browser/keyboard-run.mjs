/** Submit → why it waits (or how it runs) → the reclaim page, without a pointer. */
export async function keyboardRun(page, site, fail) {
  const key = (name) => page.keyboard.press(name);
  const type = (text) => page.keyboard.type(text);
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
  /** Tabs until the focus is where the selector points. */
  const tabTo = async (selector) => {
    for (let step = 0; step < 80; step += 1) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector))
        return true;
      await key("Tab");
    }
    fail("keyboard", `Tab never reaches ${selector}`);
    return false;
  };

  await page.goto(site.base);
  await page.locator("#username, input[autocomplete=username]").first().waitFor();
  await tabTo("input[autocomplete=username]");
  await type(site.user);
  await key("Tab");
  await type(site.password);
  await key("Enter");
  await page.locator("nav .main-menu").waitFor({ state: "attached" });

  await key("?");
  await page.locator("dialog .keys").waitFor();
  await key("Escape");
  await page.locator("dialog .keys").waitFor({ state: "hidden" });

  await key("c");
  await page.waitForURL("**/jobs/new");
  const name = `keyboard-${Date.now()}`;
  if (!(await tabTo("input#name"))) return;
  await type(name);
  if (process.env.REEVE_TEAM) {
    await tabTo("input#team");
    await type(process.env.REEVE_TEAM);
    await key("Enter");
  }
  await tabTo("textarea#command");
  await type("sleep 1");
  await tabTo("button[type=submit]");
  await key("Enter");
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
  await page.locator("main h1", { hasText: name }).waitFor();
  await page.locator(".verdict").first().waitFor();
  const verdict = ((await page.locator(".verdict").first().textContent()) ?? "").trim();
  if (verdict.length < 5) fail("keyboard", "the job page says neither why it waits nor how it runs");

  await key("g");
  await key("r");
  await page.waitForURL("**/reclaims");
  // Some reclaims only promise space that others vacate anyway: one with victims has something to explain.
  const link = ".reclaim:has(.victims li) .reclaim-head a[href^='/reclaims/']";
  const details = page.locator(link).first();
  await page.locator(".reclaim, .nothing").first().waitFor();
  if (await details.count()) {
    if (await tabTo(link)) {
      await key("Enter");
      await page.waitForURL(/\/reclaims\/[0-9a-f-]{36}/);
      await page.locator(".eviction .why").first().waitFor();
      await tabTo(".eviction summary");
      // A reclaim with one victim shows it opened.
      if (!(await page.locator(".eviction details[open]").count())) await key("Enter");
      await page.locator(".eviction details[open]").first().waitFor();
    }
  }
  await key("/");
  if ((await focused()) !== "search") fail("keyboard", "/ does not lead to the search");
  await type(name.slice(0, 12));
  await key("Enter");
  await page.waitForURL(/name_contains=/);
  await page.locator("td .name", { hasText: name }).waitFor();
}
