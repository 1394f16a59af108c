// The story of a priority that is asked for, decided by two people, used and over again: by keyboard alone, each person
// in a browser of their own. Made once for each language.
import { prefer } from "./chromium.mjs";
import { keyboardOf } from "./keys.mjs";

const SOON_MS = 60_000;
const PASSWORD = "a-long-enough-word";

export async function approvalsRun(browser, site, fail, locale) {
  const where = `approvals ${locale}`;
  const stamp = `${Date.now().toString(36)}-${locale.slice(0, 2).toLowerCase()}`;
  const contexts = [];
  const open = async (user, password) => {
    const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
    contexts.push(context);
    await prefer(context, locale, "light");
    const page = await context.newPage();
    page.on("pageerror", (error) => fail(where, error.message));
    const keys = keyboardOf(page, (_, what) => fail(where, what));
    await keys.signIn(site.base, user, password);
    return { page, keys };
  };
  try {
    const admin = await open(site.user, site.password);
    const team = process.env.REEVE_TEAM ?? "vision";
    const [member, lead] = await makePeople(admin.page, team, stamp);
    const asker = await open(member, PASSWORD);
    const job = await submit(asker, team, `story-${stamp}`);
    const asked = await ask(asker, fail, where);

    await approveAs(await open(lead, PASSWORD), asked, fail, where, "the lead");
    if ((await stateOf(admin.page, asked)) !== "in_review")
      fail(where, "one person's yes was enough for two steps");
    // Smaller: a minute instead of two hours.
    await approveAs(admin, asked, fail, where, "the platform's approver", "1");
    await until(asker.page, `/escalations/${asked}`, (one) => ["active", "expired"].includes(one.state));

    await asker.page.goto(`${site.base}/jobs/${job}`);
    const started = await until(asker.page, `/jobs/${job}`, (one) => one.state === "running");
    const before = await processOf(asker.page, job);
    if (started.escalation_id && started.raised_to !== "critical")
      fail(where, `the job is raised to ${started.raised_to}`);
    await until(asker.page, `/escalations/${asked}`, (one) => one.state === "expired");
    const after = await until(asker.page, `/jobs/${job}`, (one) => !one.raised_to);
    if (after.state !== "running") fail(where, `at the end of its priority the job is ${after.state}`);
    if ((await processOf(asker.page, job)) !== before)
      fail(where, "the job was restarted at the end of its priority");
    await asker.keys.press("main .page-actions button.ant-btn-dangerous");
    await asker.page.locator("dialog[open]").waitFor();
    await asker.keys.press("dialog[open] button.ant-btn-primary");
    await until(asker.page, `/jobs/${job}`, (one) => ["cancelled", "leaving"].includes(one.state));
  } finally {
    for (const context of contexts) await context.close();
  }
}

/** A member and a lead of the team, with a password that this test knows. */
async function makePeople(page, team, stamp) {
  const made = [];
  for (const role of ["member", "lead"]) {
    const username = `${role}-${stamp}`;
    await send(page, "POST", "/users", { username, display_name: `${role} ${stamp}`, password: PASSWORD });
    await send(page, "PUT", `/teams/${team}/members/${username}/${role}`);
    made.push(username);
  }
  return made;
}

/** Submits by the form; the way to the job's page is its own. */
async function submit({ page, keys }, team, name) {
  await keys.key("c");
  await page.waitForURL("**/jobs/new");
  await keys.write("input#name", name);
  await keys.tabTo("input#team");
  await keys.type(team);
  await page.locator(".ant-select-item-option").first().waitFor();
  await keys.key("Enter");
  await keys.write("textarea#command", "sleep 600");
  await keys.press("button[type=submit]");
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
  await page.locator("main h1", { hasText: name }).waitFor();
  return page.url().split("/").at(-1);
}

/** Asks for critical against everybody for two hours, after a look at what that would do. */
async function ask({ page, keys }, fail, where) {
  await keys.press("main .page-actions a[href*='asks_for=priority']");
  await page.waitForURL("**/approvals/new?**");
  await page.locator("input#level").waitFor();
  await keys.tabTo("input#level");
  await keys.key("Enter");
  await keys.key("ArrowDown");
  await keys.key("Enter");
  await keys.tabTo("input#scope");
  await keys.key("Enter");
  await keys.key("ArrowDown");
  await keys.key("Enter");
  await keys.write("input#minutes", "120");
  await keys.write("textarea#reason", "the demonstration is at noon");
  await page.locator(".section button:not([type=submit])").last().waitFor();
  await keys.press("main .section:last-of-type > button");
  await page.locator(".preview .verdict").first().waitFor({ timeout: SOON_MS });
  await page.evaluate(() => document.getElementById("reason")?.focus());
  await keys.press("button[type=submit]");
  await page.waitForURL(/\/approvals\/[0-9a-f-]{36}/);
  const id = page.url().split("/").at(-1);
  const one = await send(page, "GET", `/escalations/${id}`);
  if (one.asked.level !== "critical" || one.scope !== "platform" || one.asked.duration_secs !== 7200)
    fail(where, `asked for ${JSON.stringify(one.asked)} in ${one.scope}`);
  // Whoever asked has no way to decide.
  if (await page.locator(".decide button.ant-btn-primary").count())
    fail(where, "the requester is offered a decision");
  return id;
}

/** From the inbox to a yes; with fewer minutes where some are given. */
async function approveAs({ page, keys }, id, fail, where, who, minutes) {
  await keys.key("g");
  await keys.key("a");
  await page.waitForURL("**/approvals");
  const link = `main td a[href$='/approvals/${id}']`;
  await page
    .locator(link)
    .waitFor({ timeout: SOON_MS })
    .catch(() => fail(where, `the request is not in the inbox of ${who}`));
  await keys.press(link);
  await page.waitForURL(`**/approvals/${id}`);
  await page.locator(".before-after, .preview .verdict").first().waitFor({ timeout: SOON_MS });
  await keys.press(".decide button.ant-btn-primary");
  await page.locator(".form-panel textarea#comment").waitFor();
  if (minutes) await keys.write("input#minutes", minutes);
  await keys.write("textarea#comment", `yes, says ${who}`);
  await keys.press(".form-panel button[type=submit]");
  await page.locator(".form-panel").waitFor({ state: "detached" });
}

const stateOf = async (page, id) => (await send(page, "GET", `/escalations/${id}`)).state;

/** The number of the job's run with the pids of its processes: both stay where nothing is restarted. */
async function processOf(page, job) {
  const run = (await send(page, "GET", `/jobs/${job}/runs?limit=1`)).items[0];
  return JSON.stringify([run.number, run.members.map((member) => member.pid)]);
}

async function until(page, path, wanted) {
  const end = Date.now() + 150_000;
  for (;;) {
    const found = await send(page, "GET", path);
    if (wanted(found)) return found;
    if (Date.now() > end) throw new Error(`${path} stays ${JSON.stringify(found).slice(0, 200)}`);
    await page.waitForTimeout(500);
  }
}

/** Asks the API as the signed-in page. */
const send = (page, method, path, body) =>
  page.evaluate(
    async ([how, where, sent]) => {
      const response = await fetch(`/api/v1${where}`, {
        method: how,
        headers: sent ? { "Content-Type": "application/json" } : {},
        body: sent ? JSON.stringify(sent) : null,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${how} ${where}: ${response.status} ${text}`);
      return text ? JSON.parse(text) : null;
    },
    [method, path, body],
  );
