// Visits every page of the console on the showcase of "make run", in both themes and languages, on a phone and at 200 %, by keyboard alone, as
// a user of one namespace, and while the API server is frozen and killed:
//   node showcase.mjs CHROMIUM URL UI TOKEN RECORD DEVCLUSTER CLUSTER
// UI is the URL of a "windlass ui", which outlives the API server: a manager ends when it loses its lease.
// Waits for states and never for times; what is wrong is printed, and the exit code is 1 then.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { end, look, reader, start, wrong } from "./browser.mjs";
import { pages, pictures } from "./pages.mjs";

const [executablePath, url, ui, token, record, devcluster, cluster] = process.argv.slice(2);
const origin = new URL(url).origin;
// Where pictures go, if they are wanted: those of README, and in the folder "all" those of every page, for looking at.
const album = process.env.WINDLASS_PICTURES;
const keep = (page, name) => (album ? page.screenshot({ path: join(album, "all", `${name.replace(/\W+/g, "-")}.png`) }) : undefined);
const browser = await start(executablePath);
const began = performance.now();
const lap = (what) => console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: ${what}`);

/** Opens a page as a link does, without loading the program again, and waits until it is there. */
async function open(page, path) {
  await page.evaluate((to) => { window.history.pushState({}, "", to); window.dispatchEvent(new PopStateEvent("popstate")); }, path);
  await settled(page);
}

async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector("main .skeleton, main [aria-busy=true]") === null);
}

const theme = (page, name) => page.evaluate((to) => { document.documentElement.dataset.theme = to; }, name);

/** What reaches out of the window to the right, where nobody can get to it. */
async function narrow(page, where, width) {
  await page.setViewportSize({ width, height: 800 });
  const over = await page.evaluate(() => {
    const found = [];
    for (const box of [document.documentElement, document.getElementById("content")]) {
      if (!box || box.scrollWidth <= box.clientWidth + 1) continue;
      const edge = box.getBoundingClientRect().left + box.clientWidth;
      const out = [...box.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > edge + 1 && !each.closest(".scroll, .log, .tabs, .sr, pre"));
      found.push(`${box.scrollWidth} of ${box.clientWidth} px: ${out.slice(-2).map((each) => each.outerHTML.slice(0, 120)).join(" | ")}`);
    }
    return found;
  });
  for (const each of over) wrong.push(`too wide at ${width} px, ${where}: ${each}`);
}

/** Sentences that are English on a Chinese page and not marked as such: ours were forgotten, or the server's lack their language. */
async function english(page, where) {
  const found = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const out = [];
    while (walker.nextNode()) {
      const { parentElement: parent, textContent: text } = walker.currentNode;
      if (parent && !parent.closest("[lang=en], pre, code, .ed, .cm-editor, script, style, noscript") && /\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b/i.test(text ?? "")) out.push(`${parent.className || parent.tagName}: ${text}`);
    }
    return out;
  });
  for (const each of found.slice(0, 3)) wrong.push(`English on a Chinese page, ${where}: ${each.slice(0, 160)}`);
}

async function everyPage(page) {
  for (const path of pages) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(page, path);
    await look(page, path);
    await keep(page, `en${path}`);
    if (!path.includes("?tab")) {
      await theme(page, "dark");
      await look(page, `${path}, dark`, { type: "rule", values: ["color-contrast"] });
      await theme(page, "light");
    }
    // 720 px is what 1440 px are at 200 %.
    for (const width of [720, 390]) await narrow(page, path, width);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function inChinese(page) {
  await page.getByRole("button", { name: "中文" }).click();
  await page.locator("html[lang=zh-Hans]").waitFor();
  for (const path of pages) {
    await open(page, path);
    await english(page, path);
    await keep(page, `zh${path}`);
  }
  await page.getByRole("button", { name: "EN" }).click();
  await page.locator("html[lang=en]").waitFor();
}

async function byKeyboard(page) {
  await open(page, "/");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").pressSequentially("train");
  await page.getByRole("option", { name: /showcase\/train/ }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/showcase/train*");
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await page.waitForURL("**/virtualmachines");
  await page.locator("tr[data-key]").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("showcase");
  await page.waitForURL("**/virtualmachines?q=showcase");
  await page.keyboard.press("Escape");
  await page.waitForURL("**/virtualmachines");
  await page.locator("tr[data-key]").first().focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  const second = await page.locator("tr[data-key]").nth(1).getAttribute("data-key");
  if ((await page.evaluate(() => document.activeElement?.getAttribute("data-key"))) !== second) wrong.push("J, J and K do not lead to the second row");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/virtualmachines/${second}`);
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await page.waitForURL(`${origin}/`);
}

/** Somebody who may look at one namespace and nothing else gets a whole console of it, and is told what they may not do. */
async function limited() {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await page.goto(`${origin}/podsets/showcase/train`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Facts" }).waitFor();
  await page.locator(".live.live").waitFor();
  const rail = page.getByRole("navigation", { name: "Main" });
  await rail.getByRole("link", { name: "Virtual machines" }).waitFor();
  await rail.getByRole("link", { name: "Nodes", exact: true }).waitFor({ state: "detached" });
  await page.locator("button[aria-disabled=true]", { hasText: "Delete" }).waitFor();
  await look(page, "podset of a limited user");
  for (const path of ["/", "/podsets", "/virtualmachines", "/pods", "/nodes"]) {
    await open(page, path);
    await look(page, `${path} of a limited user`);
    await keep(page, `limited${path}`);
  }
  await context.close();
}

/** The API server stops answering, goes on, is killed and comes back. The page says so each time, and keeps what it shows. */
async function withoutServer() {
  const context = await reader(browser, new URL(ui).origin);
  const page = await context.newPage();
  await page.goto(ui);
  await page.locator(".live.live").waitFor();
  await settled(page);
  await open(page, "/virtualmachines");
  await page.locator("tr[data-key]").first().waitFor();
  const rows = await page.locator("tr[data-key]").count();
  const says = async (state) => {
    await page.locator(`.live.${state}`).waitFor();
    if ((await page.locator("tr[data-key]").count()) !== rows) wrong.push(`rows are lost while it is ${state}`);
  };
  const server = () => JSON.parse(readFileSync(record, "utf8")).pid;
  process.kill(server(), "SIGSTOP");
  try {
    await says("stale");
    await page.locator(".banner.warn").waitFor();
  } finally {
    process.kill(server(), "SIGCONT");
  }
  await says("live");
  lap("frozen and thawed");
  process.kill(server(), "SIGKILL");
  await says("stale");
  const again = spawn(devcluster, ["start", "--name", cluster], { stdio: "inherit" });
  await new Promise((done) => again.on("exit", done));
  await says("live");
  await page.locator(".banner").waitFor({ state: "detached" });
  await context.close();
}

async function takePictures(page) {
  mkdirSync(join(album, "all"), { recursive: true });
  for (const [name, path] of Object.entries(pictures)) {
    await open(page, path);
    for (const look of ["light", "dark"]) {
      await theme(page, look);
      await page.screenshot({ path: join(album, `${name}-${look}.png`) });
    }
    await theme(page, "light");
  }
}

try {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(".live.live").waitFor();
  await settled(page);
  await page.reload();
  await settled(page);
  lap(`a second load shows its heading after ${Math.round(await page.evaluate(() => performance.now()))} ms`);
  await theme(page, "light");
  if (album) await takePictures(page);
  for (const [what, step] of Object.entries({ "every page": everyPage, "in Chinese": inChinese, "by keyboard": byKeyboard, "a limited user": limited, "without the API server": withoutServer })) {
    await step(page);
    lap(what);
  }
} catch (error) {
  wrong.push(String(error));
}
await end(browser);
