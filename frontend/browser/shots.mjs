// Screenshots of every page in both languages and themes, to be looked at. SHOTS = folder.
import { mkdirSync } from "node:fs";
import { launch, prefer, signIn } from "./chromium.mjs";
import { findRoutes } from "./routes.mjs";

const site = {
  base: process.env.BASE_URL,
  user: process.env.REEVE_USER ?? "lin",
  password: process.env.REEVE_PASSWORD ?? "reeve",
};
const folder = process.env.SHOTS ?? "shots";
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const locale of ["en", "zh-CN"]) {
  for (const theme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, locale });
    await prefer(context, locale, theme);
    const page = await context.newPage();
    page.on(
      "console",
      (message) => message.type() === "error" && console.log(`${page.url()}: ${message.text()}`),
    );
    page.on("pageerror", (error) => console.log(`${page.url()}: ${error.message}`));
    await page.goto(site.base);
    await page.locator("form").waitFor();
    await page.screenshot({ path: `${folder}/sign-in.${locale}.${theme}.png` });
    await signIn(page, site);
    for (const [name, route] of Object.entries(await findRoutes(page))) {
      await page.goto(site.base + route);
      await page.locator("main h1").waitFor();
      await page.waitForTimeout(900);
      await page.screenshot({ path: `${folder}/${name}.${locale}.${theme}.png`, fullPage: true });
    }
    await context.close();
  }
}
await browser.close();
