// Visits the console as somebody who has just started "windlass ui": node visit.mjs CHROMIUM URL. Waits for states and never for times;
// what is wrong is printed, and the exit code is 1 then.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [executablePath, url] = process.argv.slice(2);
const origin = new URL(url).origin;
const patience = 120_000;
const wrong = [];

let browser;
try {
  browser = await chromium.launch({
    executablePath, timeout: patience,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
} catch (error) {
  console.log(String(error));
  process.exit(75);
}

try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", reducedMotion: "reduce" });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.on("request", (request) => { if (new URL(request.url()).origin !== origin) wrong.push(`foreign request: ${request.url()}`); });
  page.on("pageerror", (error) => wrong.push(`error in the page: ${error}`));
  // A violation of the policy is one of these as well.
  // An answer that fails is what a slow machine has, and the page says so itself.
  page.on("console", (message) => { if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) wrong.push(`console: ${message.text()}`); });

  // What axe finds, in the page as it is now. It is put in from outside, because the policy lets nothing else in.
  const look = async (where) => {
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
    for (const each of found.violations) wrong.push(`axe, ${where}: ${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  };

  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator(".live.live").waitFor();
  if (page.url().includes("session=")) wrong.push("the secret stays in the address");
  await look("overview");

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Nodes" }).click();
  await page.locator("tr[data-key]").first().waitFor();
  await look("nodes");

  await page.locator("tr[data-key] a").first().click();
  await page.getByRole("heading", { name: "Facts" }).waitFor();
  await look("node");

  await page.getByRole("button", { name: "Switch between light and dark" }).click();
  await page.locator("html[data-theme=dark]").waitFor();
  await look("node, dark");

  await page.getByRole("button", { name: "中文" }).click();
  await page.locator("html[lang=zh-Hans]").waitFor();
  await page.getByRole("heading", { name: "信息" }).waitFor();

  // A second tab shares the stream of the first, and takes it over when that is closed.
  const isStream = (request) => request.url().includes("/v1/watch");
  const other = await context.newPage();
  let own = 0;
  other.on("request", (request) => { if (isStream(request)) own++; });
  await other.goto(origin);
  await other.locator(".live.live").waitFor();
  await other.locator(".pl").or(other.locator(".map")).first().waitFor();
  if (own > 0) wrong.push("the second tab has a stream of its own");
  const taken = other.waitForRequest(isStream);
  await page.close();
  await taken;
} catch (error) {
  wrong.push(String(error));
} finally {
  await browser.close();
}
for (const each of wrong) console.log(each);
process.exit(wrong.length > 0 ? 1 : 0);
