import { keyboardOf } from "./keys.mjs";

/** Submit → why it waits (or how it runs) → the reclaim page, without a pointer. */
export async function keyboardRun(page, site, fail) {
  const { key, type, focused, tabTo, signIn } = keyboardOf(page, fail);

  /** Lists change under one's hands on a live page: a key may meet what has just gone. Three times, it is a defect. */
  const leadsTo = async (what, act, url) => {
    for (let time = 0; time < 3; time += 1) {
      await act();
      const came = await page.waitForURL(url, { timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      if (came) return true;
    }
    fail("keyboard", `${what} does not lead to ${url} but to ${page.url()}, focus on ${await focused()}`);
    return false;
  };

  await signIn(site.base, site.user, site.password);

  await key("?");
  await page.locator("dialog .keys").waitFor();
  await key("Escape");
  await page.locator("dialog .keys").waitFor({ state: "hidden" });

  if (!(await leadsTo("c", () => key("c"), "**/jobs/new"))) return;
  const name = `keyboard-${Date.now()}`;
  if (!(await tabTo("input#name"))) return;
  await type(name);
  if (process.env.REEVE_TEAM) {
    await tabTo("input#team");
    await type(process.env.REEVE_TEAM);
    // Teams come from the server: nobody presses Enter before there is one to choose.
    await page.locator(".ant-select-item-option", { hasText: process.env.REEVE_TEAM }).first().waitFor();
    await key("Enter");
  }
  await tabTo("textarea#command");
  await type("sleep 1");
  const submit = async () => {
    if (await tabTo("button[type=submit]")) await key("Enter");
  };
  if (!(await leadsTo("submitting", submit, /\/jobs\/[0-9a-f-]{36}/))) return;
  await page.locator("main h1", { hasText: name }).waitFor();
  await page.locator(".verdict").first().waitFor();
  const verdict = ((await page.locator(".verdict").first().textContent()) ?? "").trim();
  if (verdict.length < 5) fail("keyboard", "the job page says neither why it waits nor how it runs");

  const toReclaims = async () => {
    await key("g");
    await key("r");
  };
  if (!(await leadsTo("g r", toReclaims, "**/reclaims"))) return;
  // Some reclaims only promise space that others vacate anyway: one with victims has something to explain.
  const link = ".reclaim:has(.victims li) .reclaim-head a[href^='/reclaims/']";
  const details = page.locator(link).first();
  await page.locator(".reclaim, .nothing").first().waitFor();
  if (await details.count()) {
    const open = async () => {
      if (await tabTo(link)) await key("Enter");
    };
    if (await leadsTo("a reclaim's link", open, /\/reclaims\/[0-9a-f-]{36}/)) {
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
  if (!(await leadsTo("the search", () => key("Enter"), /name_contains=/))) return;
  await page.locator("td .name", { hasText: name }).waitFor();
}
