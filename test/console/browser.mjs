// A browser that notes what is wrong with the pages it opens. Waits for states and never for times.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium, errors } = require("playwright-core");
export { errors };
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** How long a state may take, in milliseconds. */
export const patience = 120_000;
/** What was wrong: each is printed at the end. */
export const wrong = [];

/** Starts the browser, or ends the program with the code by which the test knows that it cannot be started. */
export async function start(executablePath) {
  try {
    return await chromium.launch({
      executablePath, timeout: patience,
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
  } catch (error) {
    console.log(String(error));
    process.exit(75);
  }
}

/** A reader of the console at an origin: whatever they open is watched. */
export async function reader(browser, origin, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB", reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(patience);
  context.on("page", (page) => {
    page.on("request", (request) => { if (new URL(request.url()).origin !== origin && !request.url().startsWith("blob:")) wrong.push(`foreign request: ${request.url()}`); });
    page.on("pageerror", (error) => wrong.push(`error in the page ${page.url()}: ${error}`));
    // A violation of the policy is one of these as well. An answer that fails is what a slow machine has, and the page says so itself.
    page.on("console", (message) => { if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) wrong.push(`console, ${page.url()}: ${message.text()}`); });
  });
  return context;
}

/** What axe finds in the page as it is now. It is put in from outside, because the policy lets nothing else in. */
export async function look(page, where, only = rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const found = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, resultTypes: ["violations"] }), only);
  for (const each of found.violations) wrong.push(`axe, ${where}: ${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Ends the program: what is wrong is printed, and the exit code is 1 then. */
export async function end(browser) {
  await browser.close();
  for (const each of new Set(wrong)) console.log(each);
  process.exit(wrong.length > 0 ? 1 : 0);
}
