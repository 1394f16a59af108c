/** The policy: what cannot be read or is wrong is named, a change is tried on the live state, saved, and taken back. */
export async function policyRun(page, site, fail) {
  const inForce = () => page.evaluate(async () => (await fetch("/api/v1/policy")).json());
  const text = page.locator(".policy-editor textarea");
  const button = (name) => page.locator(".policy-editor").getByRole("button", { name });
  const before = await inForce();

  await page.goto(`${site.base}/admin/policy`);
  await text.waitFor();
  await text.fill('{"reclaim": ');
  await page.locator(".policy-editor [role=alert]").waitFor();
  if (await button("Dry run").isEnabled()) fail("/admin/policy", "what cannot be read can be tried");

  // A wrong value is named by its path.
  await text.fill(JSON.stringify({ ...before.document, nomination_timeout_secs: -5 }));
  await button("Dry run").click();
  await page
    .locator(".policy-editor .problem code", { hasText: "/nomination_timeout_secs" })
    .first()
    .waitFor();

  const changed = {
    ...before.document,
    nomination_timeout_secs: before.document.nomination_timeout_secs + 1,
  };
  await text.fill(JSON.stringify(changed));
  if (await button("Save").isEnabled()) fail("/admin/policy", "it can be saved before it was tried");
  await button("Dry run").click();
  await page.locator(".policy-editor .verdict").waitFor();
  if ((await inForce()).version !== before.version) fail("/admin/policy", "a dry run has changed the policy");
  await button("Save").click();
  await page.waitForFunction(
    async (version) => (await (await fetch("/api/v1/policy")).json()).version > version,
    before.version,
  );

  // The version before comes back as a new one.
  if (before.version > 0) {
    await page.getByRole("button", { name: `Take into the editor: version ${before.version}` }).click();
    await button("Dry run").click();
    await page.locator(".policy-editor .verdict").waitFor();
    await button("Save").click();
    await page.waitForFunction(
      async (version) => (await (await fetch("/api/v1/policy")).json()).version > version + 1,
      before.version,
    );
    const back = await inForce();
    if (JSON.stringify(back.document) !== JSON.stringify(before.document))
      fail("/admin/policy", "the version that came back is another one");
  }
}
