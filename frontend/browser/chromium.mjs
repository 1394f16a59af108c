// One Chromium for a browser check, with nothing of its own on the network.
import { chromium } from "playwright-core";

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** Signs in by the form, as a person does. */
export async function signIn(page, { base, user, password }) {
  await page.goto(base);
  await page.locator("input[autocomplete=username]").fill(user);
  await page.locator("input[autocomplete=current-password]").fill(password);
  await page.keyboard.press("Enter");
  await page.locator("nav .main-menu").waitFor({ state: "attached" });
}

/** Language and theme as a returning reader has them. */
export const prefer = (context, locale, theme) =>
  context.addInitScript(
    ([chosen, look]) =>
      localStorage.setItem("reeve.preferences", JSON.stringify({ locale: chosen, theme: look })),
    [locale, theme],
  );
