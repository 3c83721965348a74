// Visits the console as somebody who has just started "windlass ui": node visit.mjs CHROMIUM URL. Waits for states and never for times;
// what is wrong is printed, and the exit code is 1 then.
import { end, look as see, reader, start, wrong } from "./browser.mjs";
import { relay } from "./relay.mjs";

const [executablePath, url] = process.argv.slice(2);
const origin = new URL(url).origin;
const browser = await start(executablePath);

/** How many requests to the API the first page may take. Who they are and what they may do, the stream, and what needs them. */
const mostRequests = 12;

/**
 * The first page can be used with the files that index.html names: whatever else is asked for gets no answer here. A network has one round
 * trip for the files then, and the budget of the build is what they weigh; how long they take is measured by make bench-console.
 */
async function firstLoad({ cookies }) {
  const context = await reader(browser, origin, { storageState: { cookies, origins: [] } });
  const page = await context.newPage();
  const named = new Set([...(await (await context.request.get(origin, { headers: { Accept: "text/html" } })).text()).matchAll(/\/assets\/[\w.-]+/g)].map(([path]) => path));
  let asked = 0;
  await page.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith("/v1/")) asked++;
    if (!pathname.endsWith(".js") || named.has(pathname)) return route.continue();
    return undefined; // never answered
  });
  await page.goto(origin, { waitUntil: "commit" }); // it never ends to load
  await page.locator("main h1").waitFor();
  await page.locator(".pl").or(page.locator(".map")).first().waitFor();
  if (asked > mostRequests) wrong.push(`the first page takes ${asked} requests to the API, want ${mostRequests} at most`);
  await page.getByRole("button", { name: "Switch between light and dark" }).click();
  await page.locator("html[data-theme=dark]").waitFor();
  await context.close();
}

/** A connection whose packets vanish does not end: the page says that it is cut off, and goes on by itself on another one. */
async function vanished(storageState) {
  const cable = await relay(origin);
  const { origin: own } = new URL(cable.url);
  const context = await reader(browser, own, { storageState });
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`${own}/nodes/first`);
  await page.locator(".live.live").waitFor();
  cable.vanish();
  await page.clock.runFor(60_000);
  await page.locator(".live.cut").waitFor();
  cable.appear();
  await page.locator(".live.live").waitFor();
  await context.close();
  cable.end();
}

try {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  const look = (where) => see(page, where);

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

  await firstLoad({ cookies: await context.cookies() });
  await vanished(await context.storageState());

  // Other tabs share the stream of the first, also what changes, and the second takes it over when that is closed.
  const isStream = (request) => request.url().includes("/v1/watch");
  const another = async () => {
    const tab = await context.newPage();
    const own = [];
    tab.on("request", (request) => { if (isStream(request)) own.push(request.url()); });
    await tab.goto(`${origin}/nodes/first`);
    await tab.locator(".live.live").waitFor();
    await tab.getByRole("heading", { name: "信息" }).waitFor();
    if (own.length > 0) wrong.push("another tab has a stream of its own");
    return tab;
  };
  const order = (tab, what) => tab.evaluate(async (path) => { const { ok, status } = await fetch(path, { method: "POST" }); if (!ok) throw new Error(`${path}: ${status}`); }, `/v1/nodes/first/${what}`);
  const offered = (tab, name) => tab.locator(".acts").getByRole("button", { name, exact: true }).waitFor();
  const [second, third] = [await another(), await another()];
  // A page whose object changes asks for its explanation again.
  const explained = second.waitForRequest((request) => request.url().endsWith("/v1/nodes/first/why"));
  await order(third, "cordon");
  await offered(second, "恢复调度");
  await offered(third, "恢复调度");
  await explained;
  const taken = second.waitForRequest(isStream);
  await page.close();
  await taken;
  await order(second, "uncordon");
  await offered(second, "设为不可调度");
  await offered(third, "设为不可调度");
} catch (error) {
  wrong.push(String(error));
}
await end(browser);
