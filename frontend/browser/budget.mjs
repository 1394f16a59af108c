// What the pages may weigh, gzipped: the entry with all that it loads at once, the charts, and what single pages add.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const KB = 1000;
const BUDGETS = { main: 460 * KB, charts: 225 * KB, pages: 120 * KB };
const folder = new URL("../dist/", import.meta.url);
const assets = readdirSync(new URL("assets/", folder)).filter((name) => name.endsWith(".js"));
const html = readFileSync(new URL("index.html", folder), "utf8");
const weigh = (names) =>
  names.reduce(
    (all, name) => all + gzipSync(readFileSync(new URL(`assets/${name}`, folder)), { level: 9 }).length,
    0,
  );

const main = assets.filter((name) => html.includes(name));
const later = assets.filter((name) => !main.includes(name));
const isChart = (name) => /chart/.test(name);
const weights = {
  main: weigh(main),
  charts: weigh(later.filter(isChart)),
  pages: weigh(later.filter((name) => !isChart(name))),
};
let over = main.length === 0;
for (const [name, most] of Object.entries(BUDGETS)) {
  const tooMuch = weights[name] > most;
  over ||= tooMuch || weights[name] === 0;
  console.log(
    `${name}: ${(weights[name] / KB).toFixed(1)} of ${most / KB} kB gzipped${tooMuch ? "  TOO MUCH" : ""}`,
  );
}
process.exit(over ? 1 : 0);
