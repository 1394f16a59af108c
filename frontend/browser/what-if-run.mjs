/** "What would happen now": the answer of the planner beside the form, refusals on their fields, and nothing written. */
export async function whatIfRun(page, site, fail) {
  const count = (path) =>
    page.evaluate(async (asked) => {
      const answer = await (await fetch(`/api/v1${asked}`)).json();
      return Object.values(answer.counts).reduce((all, one) => all + one, 0);
    }, path);
  const panel = page.locator(".what-if");
  const ask = () => panel.getByRole("button").click();

  await page.goto(`${site.base}/jobs/new`);
  await panel.waitFor();
  const team = await page.evaluate(
    async () => (await (await fetch("/api/v1/queues?limit=1")).json()).items[0].team.name,
  );
  await page.locator("input#team").click();
  await page.locator(".ant-select-item-option", { hasText: team }).first().click();
  const mine = "/jobs?limit=1&count=true&name_contains=what-if";
  const before = await count(mine);

  // Neither name nor command is needed to ask.
  await ask();
  await panel.locator(".verdict").waitFor();
  const said = ((await panel.locator(".verdict").textContent()) ?? "").trim();
  if (said.length < 15) fail("/jobs/new", `the planner's answer says only ${JSON.stringify(said)}`);

  // More than there is: it waits, and says why and what would help.
  await page.locator("input#gpus").fill("1000");
  await panel.locator(".stale-answer").waitFor();
  await ask();
  await panel.locator(".verdict.outcome-waits").waitFor();
  await panel.locator(".help-line").first().waitFor();

  // What the server refuses stands at its field.
  await page.locator("input#gpus").fill("1");
  await choose(page, "kind", "experiment");
  await choose(page, "priority", "critical");
  await ask();
  await page.locator(".ant-form-item-has-error input#priority").waitFor();
  await panel.locator(".problem").waitFor();

  if ((await count(mine)) !== before) fail("/jobs/new", "asking has submitted a job");
}

/** The option of a select, by its place among the words of the API. */
async function choose(page, field, value) {
  const order = {
    kind: ["training", "inference", "experiment", "evaluation", "batch"],
    priority: ["scavenger", "low", "normal", "high", "critical"],
  };
  // A list that is still closing is in sight for a while: two must not be taken for one.
  const open = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)");
  await open.waitFor({ state: "hidden" });
  await page.locator(`input#${field}`).click();
  await open.locator(".ant-select-item-option").nth(order[field].indexOf(value)).click();
  await open.waitFor({ state: "hidden" });
}
