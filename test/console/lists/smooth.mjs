// Measures how smoothly the console runs while much changes: node smooth.mjs CHROMIUM URL, or with "first" behind it only how soon its first
// page can be used, and with "frames" all but that. The browser's own trace says how long its threads were busy; requestAnimationFrame says when
// frames could be drawn. With WINDLASS_TRACES=DIR the traces stay there. A measurement, and no test: it asserts nothing.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { drawersOf, tasksOf } from "./trace.mjs";

const require = createRequire(new URL("../../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [executablePath, url, only] = process.argv.slice(2);
const origin = new URL(url).origin;
const seconds = 10;

const browser = await chromium.launch({
  executablePath, timeout: 120_000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB" });
context.setDefaultTimeout(300_000);
const page = await context.newPage();
await page.goto(url);
await page.locator(".live.live").waitFor();

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const sum = (tasks, of) => tasks.reduce((all, each) => all + each[of], 0);
const rounded = (values, by) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number((value / by).toFixed(2))]));

/** What tasks did together. */
function partsOf(tasks) {
  const out = {};
  for (const { parts } of tasks) for (const [part, value] of Object.entries(parts)) out[part] = (out[part] ?? 0) + value;
  return out;
}

async function measure(name, moves) {
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"] });
  const frames = page.evaluate((ms) => new Promise((done) => {
    const times = [];
    const end = performance.now() + ms;
    const frame = (now) => { times.push(now); if (now < end) requestAnimationFrame(frame); else done(times); };
    requestAnimationFrame(frame);
  }), seconds * 1000);
  await moves();
  const times = await frames;
  const raw = await browser.stopTracing();
  if (process.env.WINDLASS_TRACES) writeFileSync(`${process.env.WINDLASS_TRACES}/${name.replace(/\W+/g, "-")}.json`, raw);
  const trace = JSON.parse(raw.toString());
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  const tasks = tasksOf(trace);
  const slowest = [...tasks].sort((a, b) => b.cpu - a.cpu)[0];
  const drawn = gaps.length || 1;
  const whole = times.at(-1) - times[0];
  console.log(JSON.stringify({
    what: name, framesPerSecond: Number(((1000 * (times.length - 1)) / whole).toFixed(1)), gapP95: Number(at(gaps, 0.95).toFixed(1)), gapP99: Number(at(gaps, 0.99).toFixed(1)),
    late: gaps.filter((gap) => gap > 25).length, frames: gaps.length, longestTask: Number(Math.max(0, ...tasks.map((task) => task.took)).toFixed(1)),
    busyPercent: Number(((100 * sum(tasks, "took")) / whole).toFixed(0)), cpuPercent: Number(((100 * sum(tasks, "cpu")) / whole).toFixed(0)),
    longestTaskCPU: Number((slowest?.cpu ?? 0).toFixed(1)), ofIt: rounded(slowest?.parts ?? {}, 1),
    cpuPerFrame: Number((sum(tasks, "cpu") / drawn).toFixed(1)), ofThem: rounded(partsOf(tasks), drawn), drawersPerFrame: rounded(drawersOf(trace), drawn),
  }));
}

/** How soon the first page can be used, with nothing in the cache of the browser: its heading is there, and the main thread is free. */
async function loads() {
  const cookies = await context.cookies();
  for (const round of [1, 2, 3]) {
    const fresh = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", storageState: { cookies, origins: [] } });
    const first = await fresh.newPage();
    await browser.startTracing(first, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"] });
    await first.goto(origin, { waitUntil: "commit" });
    await first.locator("main h1").waitFor();
    const shown = await first.evaluate(() => performance.now());
    await first.waitForTimeout(2000);
    const trace = JSON.parse((await browser.stopTracing()).toString());
    const begun = Math.min(...trace.traceEvents.filter((event) => event.name === "navigationStart" && event.args?.data?.documentLoaderURL?.startsWith(origin)).map((event) => event.ts));
    const long = trace.traceEvents.filter((event) => event.ph === "X" && event.name === "RunTask" && event.dur > 50_000 && event.ts > begun).map((event) => (event.ts + event.dur - begun) / 1000);
    const busy = tasksOf(trace);
    console.log(JSON.stringify({
      what: "first page", round, headingMs: Math.round(shown), lastLongTaskEndsMs: Math.round(Math.max(0, ...long)), mainThreadMs: Math.round(sum(busy, "took")), mainThreadCPU: Math.round(sum(busy, "cpu")),
    }));
    await fresh.close();
  }
}

// Scrolls for as long as is measured, 60 times a second.
const scroll = () => page.evaluate((ms) => new Promise((done) => {
  const content = document.getElementById("content");
  const end = performance.now() + ms;
  const step = (now) => { content.scrollTop += 40; if (now < end - 300) requestAnimationFrame(step); else done(undefined); };
  requestAnimationFrame(step);
}), seconds * 1000);
const wait = () => page.waitForTimeout(seconds * 1000);

try {
  if (only !== "frames") await loads();
  if (only === "first") process.exit();
  await page.goto(`${origin}/deployments`);
  await page.locator("tr[data-key]").first().waitFor();
  // All pages of the list, as somebody has them who has scrolled to its end.
  while ((await page.locator(".filter .dim").first().innerText()).includes("loading")) {
    await page.evaluate(() => { const content = document.getElementById("content"); content.scrollTop = content.scrollHeight; });
    await page.waitForTimeout(200);
  }
  console.log(`rows: ${await page.locator(".filter .dim").first().innerText()}`);
  await page.evaluate(() => { document.getElementById("content").scrollTop = 0; });
  await measure("list, still", wait);
  await measure("list, scrolled", scroll);
  await page.goto(`${origin}/nodes`);
  await page.locator(".mapcanvas canvas").waitFor();
  await page.locator("tr[data-key]").first().waitFor();
  await page.waitForTimeout(3000);
  await measure("map and list of nodes, still", wait);
  await measure("map, pointer over it", async () => {
    const box = await page.locator(".mapstop").boundingBox();
    const end = Date.now() + seconds * 1000 - 300;
    for (let x = 0; Date.now() < end; x = (x + 7) % Math.floor(box.width)) await page.mouse.move(box.x + x, box.y + box.height - 60);
  });
} finally {
  await browser.close();
}
