/** Webhooks with deliveries and secrets, providers, rules, sessions, preferences: made, refused at their field, tried, taken away. */
export async function identityRun(page, site, fail) {
  const stamp = Date.now().toString(36);
  const panel = page.locator(".form-panel").first();
  const fill = (label, text) => panel.getByLabel(label, { exact: true }).fill(text);
  const submit = () => panel.locator("button[type=submit]").click();
  const agree = () => page.locator("dialog[open] button").last().click();
  const choose = async (label, text) => {
    await panel.getByLabel(label, { exact: true }).click();
    const open = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)");
    await open.locator(".ant-select-item-option", { hasText: text }).first().click();
    await open.waitFor({ state: "hidden" });
  };

  await page.goto(`${site.base}/admin/webhooks`);
  await page.getByRole("button", { name: "New webhook" }).click();
  await fill("Name", `hook ${stamp}`);
  // An address inside: refused at its field.
  await fill("Address", "https://127.0.0.1/hook");
  await submit();
  await panel.locator(".ant-form-item-has-error #url").waitFor();
  // A name that never resolves: nothing of the test leaves the machine.
  await fill("Address", "https://receiver.invalid/hook");
  await submit();
  const secret = (await page.locator(".secret").textContent()) ?? "";
  if (!secret.startsWith("whsec_")) fail("/admin/webhooks", `the secret is shown as ${secret.slice(0, 8)}…`);
  await page.getByRole("button", { name: "I have kept it" }).click();
  if (await page.getByText(secret).count()) fail("/admin/webhooks", "the secret is shown a second time");
  await page.getByRole("button", { name: `Send a test hook ${stamp}` }).click();
  await page.waitForURL(/hook=/);
  const deliveries = page.locator("section[aria-labelledby], .section", {
    hasText: `Deliveries to hook ${stamp}`,
  });
  await deliveries.locator("tbody tr").first().waitFor();
  await page
    .waitForFunction(
      () =>
        [...document.querySelectorAll("main td .quiet")].some((one) =>
          /resol|invalid|dns/i.test(one.textContent),
        ),
      null,
      { timeout: 30_000 },
    )
    .catch(() => fail("/admin/webhooks", "a delivery to nowhere shows no reason"));
  await deliveries
    .getByRole("button", { name: /^Details/ })
    .first()
    .click();
  await deliveries.locator("pre.command").waitFor();
  await deliveries
    .getByRole("button", { name: /^Send again/ })
    .first()
    .click();
  await page.waitForFunction(
    () => document.querySelectorAll("main .section:last-of-type tbody tr").length >= 2,
  );
  await page.getByRole("button", { name: `Delete hook ${stamp}` }).click();
  await agree();
  await page.locator("td .name", { hasText: `hook ${stamp}` }).waitFor({ state: "detached" });

  await page.goto(`${site.base}/admin/oidc`);
  await page.getByRole("button", { name: "New provider" }).click();
  await fill("Short name", `idp-${stamp}`);
  await fill("Name", `IdP ${stamp}`);
  await fill("Issuer", "https://issuer.invalid");
  await fill("Client id", "reeve");
  await page.getByRole("button", { name: "One more group" }).click();
  await panel.locator("input[id$='_group']").fill("gpu-admins");
  await panel.locator("input[id$='_means']").click();
  await page
    .locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden) .ant-select-item-option")
    .last()
    .click();
  await submit();
  await page.locator("td .name", { hasText: `IdP ${stamp}` }).waitFor();
  await page.locator("td li", { hasText: "gpu-admins" }).waitFor();
  await page.getByRole("button", { name: `Check now IdP ${stamp}` }).click();
  await page.locator(".verdict.bad").waitFor({ timeout: 30_000 });
  await page.getByRole("button", { name: `Delete IdP ${stamp}` }).click();
  await agree();
  await page.locator("td .name", { hasText: `IdP ${stamp}` }).waitFor({ state: "detached" });

  await page.goto(`${site.base}/admin/workload`);
  await page.getByRole("button", { name: "New rule" }).click();
  await fill("Short name", `rule-${stamp}`);
  await fill("Name", `Rule ${stamp}`);
  await fill("Value", "org/model");
  const team = await page.evaluate(
    async () => (await (await fetch("/api/v1/teams?limit=1")).json()).items[0].name,
  );
  await choose("Team", team);
  await submit();
  await page.locator("td code", { hasText: "repository = org/model" }).waitFor();
  await page.getByRole("button", { name: `Delete Rule ${stamp}` }).click();
  await agree();
  await page.locator("td .name", { hasText: `Rule ${stamp}` }).waitFor({ state: "detached" });

  await own(page, site, fail);
}

/** The reader's own: this session is marked, and a preference survives a reload. */
async function own(page, site, fail) {
  await page.goto(`${site.base}/account`);
  await page.locator("td strong", { hasText: "(this one)" }).waitFor();
  const setting = page.getByLabel("Mail a budget runs out");
  await setting.click();
  const open = page.locator(".ant-select-dropdown:not(.ant-select-dropdown-hidden)");
  await open.locator(".ant-select-item-option", { hasText: "all of my teams'" }).click();
  const kept = () =>
    page.evaluate(async () => {
      const { topics } = await (await fetch("/api/v1/me/notifications")).json();
      return topics.find((one) => one.topic === "budget");
    });
  for (let time = 0; time < 50 && (await kept()).setting !== "team"; time += 1)
    await page.waitForTimeout(100);
  const found = await kept();
  if (found.setting !== "team" || found.source !== "own")
    fail("/account", `the preference is kept as ${JSON.stringify(found)}`);
  await page.reload();
  await page.getByText("all of my teams'").first().waitFor();
}
