import { readFileSync } from "node:fs";

/** Audit: the badge, a filter that survives a reload, a permalink with before and after, an export of what the filter matches. */
export async function auditRun(page, site, fail) {
  const ask = (path) => page.evaluate(async (asked) => (await fetch(`/api/v1${asked}`)).json(), path);
  await page.goto(`${site.base}/audit`);
  await page.locator("td a[href^='/audit/']").first().waitFor();
  const badge = (await page.locator(".page-title .mark").first().textContent()) ?? "";
  const status = await ask("/audit/status");
  if (!/verified to [\d,]+/.test(badge)) fail("/audit", `the badge says ${JSON.stringify(badge)}`);
  if (status.verified_position > status.last_position) fail("/audit", "more is verified than there is");

  // People are made at the demo's beginning: a filter that matches few.
  await page.getByLabel("Action (job.submitted, quota.*)").fill("user.*");
  await page.waitForFunction(() => location.search.includes("action=user"));
  await page.waitForFunction(() =>
    [...document.querySelectorAll("main tbody td code")].every((one) => one.textContent.startsWith("user.")),
  );
  const address = page.url();
  await page.reload();
  await page.locator("td a[href^='/audit/']").first().waitFor();
  if (page.url() !== address) fail("/audit", `the address changed on reload: ${address} → ${page.url()}`);

  const wanted = (await ask("/audit?action=user.*&limit=200")).items;
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "CSV of the filter" }).click(),
  ]);
  const lines = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\r\n")
    .slice(1);
  if (lines.length !== wanted.length)
    fail("/audit", `CSV has ${lines.length} rows, the filter matches ${wanted.length}`);

  const event = wanted.find((one) => one.after) ?? wanted[0];
  await page.goto(`${site.base}/audit/${event.position}`);
  await page.locator("main h1", { hasText: event.position.toLocaleString("en") }).waitFor();
  const hash = page.locator("dd code", { hasText: event.hash });
  await hash.waitFor();
  if (event.after) await page.locator(".changes ins").first().waitFor();
  // One beyond the end says so.
  await page.goto(`${site.base}/audit/${status.last_position + 1_000_000}`);
  await page.locator(".nothing").waitFor();
}
