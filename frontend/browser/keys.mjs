/** A page's keyboard, for checks that use no pointer. */
export function keyboardOf(page, fail) {
  const key = (name) => page.keyboard.press(name);
  const type = (text) => page.keyboard.type(text);
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
  /** Tabs until the focus is where the selector points. */
  const tabTo = async (selector) => {
    for (let step = 0; step < 120; step += 1) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector))
        return true;
      await key("Tab");
    }
    fail("keyboard", `Tab never reaches ${selector} on ${page.url()}`);
    return false;
  };
  /** Tabs there, and presses Enter. */
  const press = async (selector) => {
    await page.locator(selector).first().waitFor();
    if (await tabTo(selector)) await key("Enter");
  };
  /** Tabs to a text field, and writes over what it holds. */
  const write = async (selector, text) => {
    if (!(await tabTo(selector))) return;
    await key("Control+a");
    await type(text);
  };
  /** Signs in as a person does who has only a keyboard. */
  const signIn = async (base, user, password) => {
    await page.goto(base);
    await page.locator("input[autocomplete=username]").first().waitFor();
    await tabTo("input[autocomplete=username]");
    await type(user);
    await key("Tab");
    await type(password);
    await key("Enter");
    await page.locator("nav .main-menu").waitFor({ state: "attached" });
  };
  return { key, type, focused, tabTo, press, write, signIn };
}
