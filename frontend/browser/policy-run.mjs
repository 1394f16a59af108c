/** The policy: what cannot be read or is wrong is named, a change is tried on the live state, saved, and taken back. */
export async function policyRun(page, site, fail) {
  const inForce = () => page.evaluate(async () => (await fetch("/api/v1/policy")).json());
  const text = page.locator(".policy-editor textarea");
  const button = (name) => page.locator(".policy-editor").getByRole("button", { name });
  const before = await inForce();
  /** The policy once its version is above this one. */
  const newer = async (version) => {
    for (let time = 0; time < 100; time += 1) {
      const found = await inForce();
      if (found.version > version) return found;
      await page.waitForTimeout(100);
    }
    throw new Error(`no version after ${version} came within ten seconds`);
  };

  await page.goto(`${site.base}/admin/policy?as=text`);
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
  await newer(before.version);

  // The version before comes back as a new one.
  if (before.version > 0) {
    await page.getByRole("button", { name: `Take into the editor: version ${before.version}` }).click();
    await button("Dry run").click();
    await page.locator(".policy-editor .verdict").waitFor();
    await button("Save").click();
    const back = await newer(before.version + 1);
    if (JSON.stringify(back.document) !== JSON.stringify(before.document))
      fail("/admin/policy", "the version that came back is another one");
  }

  await formSaysTheSame(page, fail);
}

/** What the form changes stands in the text, and what the form does not know stays. */
async function formSaysTheSame(page, fail) {
  const editor = page.locator(".policy-editor");
  const text = editor.locator("textarea");
  const document = JSON.parse(await text.inputValue());
  await editor.getByText("Form", { exact: true }).click();
  const field = editor.getByLabel("Promised space is kept (seconds)");
  await field.fill(String(document.nomination_timeout_secs + 60));
  await editor.getByRole("button", { name: "Dry run" }).focus();
  await editor.getByText("Text", { exact: true }).click();
  await text.waitFor();
  const changed = JSON.parse(await text.inputValue());
  const wanted = { ...document, nomination_timeout_secs: document.nomination_timeout_secs + 60 };
  const sorted = (of) => JSON.stringify(Object.entries(of).sort());
  if (sorted(changed) !== sorted(wanted))
    fail("/admin/policy", "the form changed something else in the text");
  await editor.getByRole("button", { name: "Back to what is in force" }).click();
}
