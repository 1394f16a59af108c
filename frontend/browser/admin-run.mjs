/** Administration: a person, a team with quota and queue, a role, tokens shown once; refusals stand at their fields. */
export async function adminRun(page, site, fail) {
  const stamp = Date.now().toString(36);
  const panel = page.locator(".form-panel").first();
  const fill = (label, text) => panel.getByLabel(label, { exact: true }).fill(text);
  const submit = () => panel.locator("button[type=submit]").click();
  const ask = (path) => page.evaluate(async (asked) => (await fetch(`/api/v1${asked}`)).json(), path);
  const choose = async (label, text) => {
    await panel.getByLabel(label, { exact: true }).click();
    const open = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)");
    await open.locator(".ant-select-item-option", { hasText: text }).first().click();
    await open.waitFor({ state: "hidden" });
  };

  await page.goto(`${site.base}/admin/people`);
  await page.getByRole("button", { name: "New person" }).click();
  await fill("User name", "Not A Slug!");
  await fill("Shown name", `Browser ${stamp}`);
  await submit();
  await panel.locator(".ant-form-item-has-error #username").waitFor();
  await fill("User name", `b-${stamp}`);
  await fill("Password", `long-enough-${stamp}`);
  await submit();
  await page.locator("td .name", { hasText: `Browser ${stamp}` }).waitFor();

  await page.goto(`${site.base}/admin/teams`);
  await page.getByRole("button", { name: "New team" }).click();
  await fill("Short name", `t-${stamp}`);
  await fill("Name", `Team ${stamp}`);
  await submit();
  await page.waitForURL(new RegExp(`team=t-${stamp}`));
  await page.getByRole("button", { name: "Give somebody a role" }).click();
  await choose("User name", `b-${stamp}`);
  await choose("Role", "Lead");
  await submit();
  await page
    .locator("td", { hasText: `b-${stamp}` })
    .first()
    .waitFor();
  await page.getByRole("button", { name: "New quota" }).click();
  const pool = (await ask("/pools?limit=1")).items[0].slug;
  await choose("Pool", pool);
  await submit();
  await page.locator("td", { hasText: pool }).first().waitFor();
  await page.getByRole("button", { name: "New queue" }).click();
  await fill("Short name", `t-${stamp}-main`);
  await fill("Name", "Main");
  await submit();
  await page.locator("td a", { hasText: "Main" }).waitFor();
  const team = await ask(`/teams/t-${stamp}/members`);
  if (team.items[0]?.role !== "lead") fail("/admin/teams", "the role was not given");

  // A team that has a queue still goes once it has no live jobs; asked back first.
  await page.getByRole("button", { name: `Delete Team ${stamp}` }).click();
  await page.locator("dialog[open] button").last().click();
  await page.waitForFunction((slug) => !location.search.includes(slug), `t-${stamp}`);

  await page.goto(`${site.base}/account`);
  await page.getByRole("button", { name: "New API token" }).click();
  await fill("Name", `token ${stamp}`);
  await submit();
  const token = (await page.locator(".secret").textContent()) ?? "";
  const status = await page.evaluate(
    async (bearer) =>
      (await fetch("/api/v1/me", { credentials: "omit", headers: { Authorization: `Bearer ${bearer}` } }))
        .status,
    token,
  );
  if (status !== 200) fail("/account", `the token that was shown is answered ${status}`);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.reload();
  await page.locator("td .name", { hasText: `token ${stamp}` }).waitFor();
  if (await page.getByText(token).count()) fail("/account", "the token is shown a second time");
  await page.getByRole("button", { name: `Revoke token ${stamp}` }).click();
  await page.locator("dialog[open] button").last().click();
  await page
    .locator("tr", { hasText: `token ${stamp}` })
    .getByText("revoked")
    .waitFor();

  await page.goto(`${site.base}/admin/pools`);
  await page.getByRole("button", { name: "New join token" }).click();
  await choose("Pool", pool);
  await submit();
  if (!((await page.locator(".secret").textContent()) ?? "").startsWith("reeve_"))
    fail("/admin/pools", "no join token is shown");
}
