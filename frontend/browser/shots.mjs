// Screenshots of every page, to be looked at. SHOTS = folder, LOOKS = "en.light.1440 zh-CN.dark.390 …", ONLY = names.
import { mkdirSync } from "node:fs";
import { launch, prefer, signIn } from "./chromium.mjs";
import { findRoutes } from "./routes.mjs";

const site = {
  base: process.env.BASE_URL,
  user: process.env.REEVE_USER ?? "lin",
  password: process.env.REEVE_PASSWORD ?? "reeve",
};
const folder = process.env.SHOTS ?? "shots";
const every = ["en", "zh-CN"].flatMap((locale) =>
  ["light", "dark"].flatMap((theme) => [1440, 390].map((width) => `${locale}.${theme}.${width}`)),
);
const looks = process.env.LOOKS?.split(" ") ?? every;
const only = process.env.ONLY?.split(" ");
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const look of looks) {
  const [locale, theme, width] = look.split(".");
  const context = await browser.newContext({ viewport: { width: Number(width), height: 900 }, locale });
  await prefer(context, locale, theme);
  const page = await context.newPage();
  page.on(
    "console",
    (message) => message.type() === "error" && console.log(`${page.url()}: ${message.text()}`),
  );
  page.on("pageerror", (error) => console.log(`${page.url()}: ${error.message}`));
  await page.goto(site.base);
  await page.locator("form").waitFor();
  if (!only) await page.screenshot({ path: `${folder}/sign-in.${look}.png` });
  await signIn(page, site);
  for (const [name, route] of Object.entries(await findRoutes(page))) {
    if (only && !only.includes(name)) continue;
    await page.goto(site.base + route);
    await page.locator("main h1").waitFor();
    await page.waitForTimeout(900);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.log(`${name} ${look}: ${wide} px wider than the window`);
    await page.screenshot({ path: `${folder}/${name}.${look}.png`, fullPage: true });
  }
  await context.close();
}
await browser.close();
