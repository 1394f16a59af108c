// The story of a priority that is asked for, decided by two people, used and over again: by keyboard alone, each person
// in a browser of their own. Made once for each language, on a server where nothing else happens: what leaves, leaves
// because of it.
import { prefer } from "./chromium.mjs";
import { keyboardOf } from "./keys.mjs";
import { startReceiver } from "./receiver.mjs";

const SOON_MS = 60_000;
const TEAM = "vision";
/** What the story's job asks for. */
const GPUS = 4;
/** What the demo's policy lets every job run, and a little. */
const MIN_RUNTIME_MS = 6_000;
const STEPS = ["requested", "in_review", "step_approved", "approved", "activated", "expired"].map(
  (step) => `escalation.${step}`,
);
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
  const receiver = await startReceiver();
  try {
    const admin = await open(site.user, site.password);
    const hook = { name: `story ${stamp}`, url: receiver.url, event_types: ["escalation.*"] };
    const { secret } = await send(admin.page, "POST", "/webhooks", hook);
    const [member, lead] = await makePeople(admin.page, TEAM, stamp);
    const asker = await open(member, PASSWORD);
    const ahead = await fill(admin.page, asker.page, stamp);
    const job = await submit(asker, `story-${stamp}`);
    await until(asker.page, `/jobs/${job}`, (one) => one.state === "queued" && one.reason);
    const asked = await ask(asker, fail, where);
    const leader = await open(lead, PASSWORD);

    await approveAs(leader, asked, fail, where, "the lead");
    if ((await stateOf(admin.page, asked)) !== "in_review")
      fail(where, "one person's yes was enough for two steps");
    const foretold = await leaversOf(admin.page, asked);
    if (foretold.length !== GPUS)
      fail(where, `the preview names ${foretold.length} jobs to leave, not ${GPUS}`);
    // Smaller: a minute instead of two hours.
    await approveAs(admin, asked, fail, where, "the platform's approver", "1");
    await until(asker.page, `/escalations/${asked}`, (one) => ["active", "expired"].includes(one.state));

    await asker.page.goto(`${site.base}/jobs/${job}`);
    const started = await until(asker.page, `/jobs/${job}`, (one) => one.state === "running");
    const before = await processOf(asker.page, job);
    if (started.raised_to !== "critical") fail(where, `the job is raised to ${started.raised_to}`);
    const waits = await send(asker.page, "GET", `/jobs/${ahead}`);
    if (waits.state !== "queued") fail(where, `the job that was ahead in the line is ${waits.state}`);
    await sameLeavers(admin.page, stamp, foretold, fail, where);

    await until(asker.page, `/escalations/${asked}`, (one) => one.state === "expired");
    const after = await until(asker.page, `/jobs/${job}`, (one) => !one.raised_to);
    // Ticks go on for a while after it.
    await asker.page.waitForTimeout(5_000);
    if (after.state !== "running") fail(where, `at the end of its priority the job is ${after.state}`);
    if ((await processOf(asker.page, job)) !== before)
      fail(where, "the job was restarted at the end of its priority");
    await sameLeavers(admin.page, stamp, foretold, fail, where);
    await stands(admin, site, asked, () => receiver.about(`escalation/${asked}`, secret), fail, where);
    await asker.keys.press("main .page-actions button.ant-btn-dangerous");
    await asker.page.locator("dialog[open]").waitFor();
    await asker.keys.press("dialog[open] button.ant-btn-primary");
    await until(asker.page, `/jobs/${job}`, (one) => ["cancelled", "leaving"].includes(one.state));
    await empty(admin.page);
  } finally {
    for (const context of contexts) await context.close();
    await receiver.stop();
  }
}

/** The other teams hold what is theirs, this one's eight GPUs are held by one job each, and one is ahead in the line. */
async function fill(admin, asker, stamp) {
  const held = [];
  for (const team of ["speech", "search"]) {
    held.push(await make(admin, { team, name: `${team}-${stamp}`, gpus: 8 }));
  }
  for (let number = 1; number <= 8; number += 1) {
    held.push(await make(asker, { team: TEAM, name: `holder-${number}-${stamp}`, gpus: 1 }));
  }
  for (const job of held) await until(admin, `/jobs/${job}`, (one) => one.state === "running");
  // Not before they ran as long as every job may.
  await admin.waitForTimeout(MIN_RUNTIME_MS);
  return make(asker, { team: TEAM, name: `ahead-${stamp}`, gpus: GPUS });
}

const make = async (page, job) =>
  (await send(page, "POST", "/jobs", { kind: "training", command: ["sleep", "900"], ...job })).id;

/** Cancels everything, for the next story. */
async function empty(page) {
  const there = async () =>
    (await send(page, "GET", "/jobs?state=queued&state=starting&state=running&state=leaving&limit=200"))
      .items;
  for (const job of await there()) {
    if (job.state !== "leaving") await send(page, "POST", `/jobs/${job.id}/cancel`, {});
  }
  for (let left = 100; (await there()).length; left -= 1) {
    if (!left) throw new Error("cancelled jobs do not end");
    await page.waitForTimeout(500);
  }
}

/** Ids of the jobs that would have to leave. */
async function leaversOf(page, escalation) {
  const { what_if } = await send(page, "GET", `/escalations/${escalation}/preview`);
  return what_if.evictions.items.map((one) => one.job.id).sort();
}

/** Exactly those left who were named. */
async function sameLeavers(page, stamp, foretold, fail, where) {
  const evicted = (await send(page, "GET", "/evictions?limit=200")).items;
  const left = evicted
    .filter((one) => one.job.name.endsWith(stamp))
    .map((one) => one.job.id)
    .sort();
  if (JSON.stringify(left) !== JSON.stringify(foretold))
    fail(where, `foretold to leave: ${foretold}; left: ${left}`);
}

/** Every step stands in the audit log, on the page as in the API, and was told to the receiver in right order and signed. */
async function stands({ page, keys }, site, asked, told, fail, where) {
  const want = STEPS.join(" ");
  const log = await send(page, "GET", `/audit?subject_type=escalation&subject_id=${asked}&limit=50`);
  const written = log.items
    .sort((one, other) => one.position - other.position)
    .filter((one) => STEPS.includes(one.action))
    .map((one) => one.action)
    .join(" ");
  if (written !== want) fail(where, `the audit log says ${written}, not ${want}`);
  await page.goto(`${site.base}/audit?subject_type=escalation&subject_id=${asked}`);
  for (const action of STEPS) {
    await page
      .locator("main tbody td code", { hasText: action })
      .first()
      .waitFor({ timeout: SOON_MS })
      .catch(() => fail(where, `the audit page does not show ${action}`));
  }
  await keys.press("main tbody a[href^='/audit/']");
  await page.waitForURL(/\/audit\/\d+$/);

  let heard = "";
  for (const end = Date.now() + SOON_MS; heard !== want && Date.now() < end; ) {
    heard = told()
      .sort((one, other) => one.data.position - other.data.position)
      .map((one) => one.data.action)
      .filter((action) => STEPS.includes(action))
      .join(" ");
    await page.waitForTimeout(300);
  }
  if (heard !== want) fail(where, `the webhook receiver heard ${heard}, not ${want}`);
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
async function submit({ page, keys }, name) {
  await keys.key("c");
  await page.waitForURL("**/jobs/new");
  await keys.write("input#name", name);
  await keys.tabTo("input#team");
  await keys.type(TEAM);
  await page.locator(".ant-select-item-option").first().waitFor();
  await keys.key("Enter");
  await keys.write("input#gpus", String(GPUS));
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
