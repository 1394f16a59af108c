// Real Chromium against a running server: BASE_URL, REEVE_USER, REEVE_PASSWORD. REEVE_TEAM = a team to submit in.
// QUIET_URL, QUIET_PASSWORD: another, where nothing happens (`reeve demo --no-workload`), for what must not be disturbed.
// Every route × theme × language has no axe violation; nothing is asked of another host; filters survive a reload;
// pages change without a reload, also over a lost connection; what is made in a form is there; a job is submitted, and why it waits is read, by
// keyboard alone. Exits 1 when anything fails.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { adminRun } from "./admin-run.mjs";
import { approvalsRun } from "./approvals-run.mjs";
import { auditRun } from "./audit-run.mjs";
import { calendarRun } from "./calendar-run.mjs";
import { launch, prefer, signIn } from "./chromium.mjs";
import { identityRun } from "./identity-run.mjs";
import { keyboardRun } from "./keyboard-run.mjs";
import { liveRun } from "./live-run.mjs";
import { policyRun } from "./policy-run.mjs";
import { findRoutes } from "./routes.mjs";
import { timelineRun } from "./timeline-run.mjs";
import { whatIfRun } from "./what-if-run.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { BASE_URL, REEVE_USER = "lin", REEVE_PASSWORD = "reeve", QUIET_URL, QUIET_PASSWORD } = process.env;
if (!BASE_URL) {
  console.error("BASE_URL is missing: the address of a running server");
  process.exit(2);
}
const site = { base: BASE_URL.replace(/\/$/, ""), user: REEVE_USER, password: REEVE_PASSWORD };
// ONLY = names of routes: those that are looked over.
const only = process.env.ONLY?.split(" ");
const failures = [];
const fail = (where, what) => {
  failures.push(`${where}: ${what}`);
  console.log(`FAIL ${where}: ${what}`);
};

/** A page whose every request, console error and exception is watched. */
async function watchedPage(context) {
  const page = await context.newPage();
  page.on("request", (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !url.startsWith(`${site.base}/`))
      fail(page.url(), `asks another host: ${url}`);
  });
  page.on("pageerror", (error) => fail(page.url(), error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy/.test(message.text()))
      fail(page.url(), message.text());
  });
  return page;
}

async function axeOn(page, where) {
  // Through the debugger: the page's own policy lets no foreign script in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  for (const one of violations) {
    const nodes = one.nodes
      .slice(0, 3)
      .map((node) => `${node.target.join(" ")} ${node.failureSummary?.split("\n")[1] ?? ""}`);
    fail(where, `${one.id} (${one.nodes.length}): ${nodes.join(" | ")}`);
  }
  return violations.length;
}

async function everyRoute(browser) {
  let checked = 0;
  for (const locale of ["en", "zh-CN"]) {
    for (const theme of ["light", "dark"]) {
      const context = await browser.newContext({
        viewport: { width: 1360, height: 900 },
        reducedMotion: "reduce",
      });
      await prefer(context, locale, theme);
      const page = await watchedPage(context);
      await page.goto(site.base);
      await page.locator("form").waitFor();
      await axeOn(page, `sign-in ${locale} ${theme}`);
      await signIn(page, site);
      for (const [name, route] of Object.entries(await findRoutes(page))) {
        if (only && !only.includes(name)) continue;
        await page.goto(site.base + route);
        await page.locator("main h1").waitFor();
        await page
          .locator(".ant-skeleton")
          .waitFor({ state: "detached" })
          .catch(() => {});
        await page.waitForTimeout(300);
        const lang = await page.evaluate(() => document.documentElement.lang);
        if (lang !== locale) fail(route, `lang is ${lang}, not ${locale}`);
        // The context asks for reduced motion.
        const moving = await page.evaluate(
          () => document.getAnimations().filter((one) => one.playState === "running").length,
        );
        if (moving > 0) fail(route, `${moving} animations run although less motion is asked for`);
        await axeOn(page, `${name} ${locale} ${theme}`);
        checked += 1;
      }
      await context.close();
      console.log(`${locale} ${theme}: ${checked} pages so far`);
    }
  }
  return checked;
}

async function filtersSurvive(browser) {
  const context = await browser.newContext();
  await prefer(context, "en", "light");
  const page = await watchedPage(context);
  await signIn(page, site);
  await page.goto(`${site.base}/jobs`);
  await page.locator(".state-queued").click();
  await page.locator(".state-running").click();
  await page.getByLabel("Name contains").fill("a");
  await page.waitForFunction(() => location.search.includes("name_contains=a"));
  const before = new URL(page.url()).search;
  await page.reload();
  await page.locator(".state-queued[aria-pressed=true]").waitFor();
  if ((await page.getByLabel("Name contains").inputValue()) !== "a")
    fail("/jobs", "the name filter is lost on reload");
  const search = new URL(page.url()).search;
  if (search !== before) fail("/jobs", `the address changed on reload: ${before} → ${search}`);
  for (const part of ["state=queued", "state=running", "name_contains=a"]) {
    if (!search.includes(part)) fail("/jobs", `${part} is not in the address: ${search}`);
  }
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "CSV" }).click(),
  ]);
  const rows = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\r\n")
    .slice(1);
  const wanted = await page.evaluate(async (query) => {
    let cursor = "";
    let count = 0;
    do {
      const answer = await (
        await fetch(`/api/v1/jobs${query}&limit=200${cursor && `&cursor=${cursor}`}`)
      ).json();
      count += answer.items.length;
      cursor = answer.next_cursor ?? "";
    } while (cursor);
    return count;
  }, search);
  if (rows.length !== wanted) fail("/jobs", `CSV has ${rows.length} rows, the filter matches ${wanted}`);
  await context.close();
}

async function signedIn(run) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  await prefer(context, "en", "light");
  const page = await watchedPage(context);
  await signIn(page, site);
  await run(page, site, fail);
  await context.close();
}

const browser = await launch();
try {
  const steps = {
    "routes × themes × languages": () => everyRoute(browser),
    "filters survive": () => filtersSurvive(browser),
    "live without a reload": () => liveRun(browser, site, fail),
    timeline: () => signedIn(timelineRun),
    "what if": () => signedIn(whatIfRun),
    policy: () => signedIn(policyRun),
    calendar: () => signedIn(calendarRun),
    identity: () => signedIn(identityRun),
    audit: () => signedIn(auditRun),
    administration: () => signedIn(adminRun),
    "approvals by keyboard": async () => {
      if (!QUIET_URL) throw new Error("QUIET_URL is missing: the address of `reeve demo --no-workload`");
      const quiet = { base: QUIET_URL, user: "admin", password: QUIET_PASSWORD };
      for (const locale of ["en", "zh-CN"]) await approvalsRun(browser, quiet, fail, locale);
    },
    "keyboard only": async () => {
      const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
      await prefer(context, "en", "light");
      await keyboardRun(await watchedPage(context), site, fail);
      await context.close();
    },
  };
  // STEPS = part of a step's name: only that one.
  for (const [name, step] of Object.entries(steps).filter(([name]) =>
    name.includes(process.env.STEPS ?? ""),
  )) {
    try {
      const said = await step();
      console.log(`done ${name}${said ? `: ${said} pages` : ""}`);
    } catch (error) {
      fail(name, error.message);
    }
  }
} finally {
  await browser.close();
}
console.log(failures.length ? `${failures.length} failures` : "all well");
process.exit(failures.length ? 1 : 0);
