// What the console does while something is away: the network, the API server, and the session of the reader. Each time it says so, keeps
// what it shows and what was typed, and goes on by itself.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { patience, reader } from "./browser.mjs";
import { owners } from "./cluster.mjs";
import { relay } from "./relay.mjs";
import { action, enter, giveToken, nothingPossible, open, press, ready, right, settled, signIn } from "./page.mjs";

const namespace = "showcase";
const reasons = { cut: "The stream is cut off: what you see may be old.", stale: "The API server does not answer: what you see may be old." };

/** Ages of a page, as they are shown. */
const ages = (page) => page.locator("main .kv dd[title]").or(page.locator("main td.age")).allInnerTexts();

/** Holds the page to what it promises while it is cut off. The clock of the browser is ten minutes ahead then, and no age is. */
async function standsStill(page, state) {
  await page.locator(`.live.${state}`).waitFor();
  await page.locator(".banner").first().waitFor();
  await open(page, "/virtualmachines");
  await page.locator("tr[data-key]").nth(4).waitFor();
  await open(page, `/virtualmachines/${namespace}/api`);
  const [before, facts] = [await ages(page), await page.locator("main .kv").first().innerText()];
  // Without those ten minutes themselves: a stream that nobody hears anything from for as long would be given up.
  await page.clock.setSystemTime((await page.evaluate(() => Date.now())) + 600_000);
  await page.clock.runFor(15_000);
  right(before.length > 0 && (await ages(page)).join() === before.join(), `ages go on while it is ${state}: ${before} became ${await ages(page)}`);
  right((await page.locator("main .kv").first().innerText()) === facts, `values change while it is ${state}`);
  await nothingPossible(page, new RegExp(`^${reasons[state]}$`));
  await page.getByText(reasons[state]).first().waitFor();
  return before;
}

/** Afterwards everything is live again, and what has changed meanwhile is there without a reload. */
async function catchesUp(page, change, before) {
  await page.locator(".live.live").waitFor();
  await page.locator(".banner").waitFor({ state: "detached" });
  await change();
  await open(page, `/virtualmachines/${namespace}/api`);
  await page.waitForFunction((old) => [...document.querySelectorAll("main .kv dd[title]")].map((each) => each.textContent).join() !== old, before.join());
  await ready(page.locator(".acts"), "Stop").waitFor();
}

/** Types into the editor of a pod set, and leaves it open. */
async function type(page, size) {
  await open(page, "/virtualmachines");
  await page.locator("tr[data-key]").first().waitFor(); // rows that have been read stay
  await open(page, `/podsets/${namespace}/kept?tab=yaml`);
  const line = page.locator(".cm-line", { hasText: /size: \d+/ });
  await line.click();
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(String(size));
  await ready(page, "Save 1 change").waitFor();
}

/** Saves, and leaves the page before the answer is there: what was saved is no draft any more when they come back. */
async function leave(page, cluster, size) {
  let answer;
  const held = new Promise((done) => { answer = done; });
  const saves = (url) => url.pathname === `/v1/podsets/${namespace}/kept`;
  await page.route(saves, async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  await type(page, size);
  const sent = page.waitForResponse((response) => response.request().method() === "PATCH" && saves(new URL(response.url())));
  await ready(page, "Save 1 change").click();
  await open(page, "/virtualmachines");
  await page.locator(".edit").waitFor({ state: "detached" });
  answer();
  await (await sent).finished();
  await cluster.until("podsets", namespace, "kept", `has ${size} pods`, ({ spec }) => spec.size === size);
  await page.waitForFunction(() => Object.keys(sessionStorage).every((key) => !key.startsWith("windlass.draft.")));
  await page.unroute(saves);
}

/** What was typed is still there, and cannot be saved now. */
async function typed(page, size, state) {
  await page.locator(`.live.${state}`).waitFor();
  await page.locator(".cm-line", { hasText: `size: ${size}` }).waitFor();
  await page.locator("button[aria-disabled=true]", { hasText: "Save 1 change" }).waitFor();
  right((await page.locator(".end .state").innerText()) === reasons[state], `while it is ${state}, the editor says: ${await page.locator(".end .state").innerText()}`);
}

export async function withoutServer({ browser, scene, cluster, lap }) {
  const cable = await relay(scene.UI);
  const context = await reader(browser, new URL(cable.url).origin);
  const page = await context.newPage();
  await page.clock.install();
  // Pages that nobody has opened yet open as well while the network is cut.
  const loaded = ["ListPage", "ObjectPage", "CreatePage", "DeedMenu"].map((part) => page.waitForEvent("requestfinished", (request) => request.url().includes(`/${part}-`) && request.url().endsWith(".js")));
  await enter(page, cable.url);
  await Promise.all(loaded);
  await cluster.create("podsets", namespace, { metadata: { name: "kept" }, spec: { size: 1 } }, "windlass-console-editor"); // no conflict with itself
  const label = (value) => async () => {
    await cluster.patch("virtualmachines", namespace, "api", { metadata: { labels: { meanwhile: value } } });
    await open(page, `/virtualmachines/${namespace}/api`);
    await page.locator(".labels", { hasText: `meanwhile=${value}` }).waitFor();
  };
  const saved = async (size) => {
    await open(page, `/podsets/${namespace}/kept?tab=yaml`);
    await page.locator(".cm-line", { hasText: `size: ${size}` }).waitFor();
    await ready(page, "Save 1 change").click();
    const after = await cluster.until("podsets", namespace, "kept", `has ${size} pods`, ({ spec }) => spec.size === size);
    right(owners(after, "f:spec", "f:size").includes("windlass-console-editor"), `spec.size is owned by ${owners(after, "f:spec", "f:size")}`);
    await page.locator("button", { hasText: "Save 0 changes" }).waitFor(); // the answer is there as well, and not only the change
  };

  await leave(page, cluster, 5);
  lap("the page is left while it saves");

  // The network of the browser, while the cluster goes on.
  await type(page, 2);
  cable.cut();
  await typed(page, 2, "cut");
  let before = await standsStill(page, "cut");
  await cluster.patch("virtualmachines", namespace, "api", { metadata: { labels: { meanwhile: "cut" } } });
  await cable.mend();
  await catchesUp(page, async () => {
    await open(page, `/virtualmachines/${namespace}/api`);
    await page.locator(".labels", { hasText: "meanwhile=cut" }).waitFor();
  }, before);
  await saved(2);
  lap("the network is cut");

  // An API server that hangs.
  const server = () => JSON.parse(readFileSync(scene.Record, "utf8")).pid;
  await type(page, 3);
  process.kill(server(), "SIGSTOP");
  try {
    await typed(page, 3, "stale");
    before = await standsStill(page, "stale");
  } finally {
    process.kill(server(), "SIGCONT");
  }
  await catchesUp(page, label("frozen"), before);
  await saved(3);
  lap("the API server is frozen");

  // One that dies and comes back.
  await type(page, 4);
  process.kill(server(), "SIGKILL");
  await typed(page, 4, "stale");
  before = await standsStill(page, "stale");
  const again = spawn(scene.Devcluster, ["start", "--name", scene.Name], { stdio: "inherit" });
  await new Promise((done) => again.on("exit", done));
  await catchesUp(page, label("killed"), before);
  await saved(4);
  await context.close();
  cable.end();
}

/** Creates somebody who may do everything in the namespace, as long as they are there. */
async function joins(cluster, name) {
  const account = { metadata: { name } };
  await cluster.create("serviceaccounts", namespace, account);
  await cluster.create("rolebindings", namespace, {
    metadata: account.metadata, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" }, subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
  return account;
}

/** Waits until nobody is signed in with a token any more. */
async function refused(origin, token) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    if ((await fetch(`${origin}/v1/session`, { headers: { Authorization: `Bearer ${token}` } })).status === 401) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error("the token of an account that is gone is still accepted");
}

/** The token of the reader ends while the network is cut: they sign in afterwards, and wait for no stream that they cannot have. */
export async function expiredUnseen({ browser, origin: server, scene, cluster }) {
  const cable = await relay(scene.URL);
  const { origin } = new URL(cable.url);
  const account = await joins(cluster, "absent");
  const token = await cluster.token(namespace, "absent");
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await signIn(page, `${origin}/events?ns=${namespace}`, token); // a page that asks for nothing beside the stream
  cable.cut();
  await page.locator(".live.cut").waitFor();
  await cluster.delete("serviceaccounts", namespace, "absent");
  await refused(server, token);
  await cable.mend();
  await page.locator(".gate").waitFor();
  await page.getByText("The session has ended").waitFor();
  await cluster.create("serviceaccounts", namespace, account);
  await giveToken(page, await cluster.token(namespace, "absent"));
  await settled(page);
  right(page.url() === `${origin}/events?ns=${namespace}`, `after the sign-in the page is ${page.url()}`);
  await context.close();
  cable.end();
}

/** The token of the reader ends: they sign in over the page, which is as it was afterwards, with what they typed. */
export async function expired({ browser, origin, cluster }) {
  const account = await joins(cluster, "leaver");
  const context = await reader(browser, origin);
  const page = await context.newPage();
  const token = await cluster.token(namespace, "leaver");
  await signIn(page, `${origin}/podsets?ns=${namespace}`, token);
  await page.getByRole("link", { name: "New pod set" }).click();
  await page.getByLabel("Name", { exact: true }).fill("after");
  await page.getByLabel("Image").fill("registry.example/after:1");
  await ready(page, "Create pod set after").waitFor();
  // What is refused because nobody is signed in any more can be sent by who signs in again.
  const creates = (url) => url.pathname === "/v1/podsets" && !url.searchParams.has("dryRun");
  await page.route(creates, (route) => (route.request().method() === "POST" ? route.fulfill({ status: 401, json: { type: "about:blank", code: "Unauthorized", title: "Unauthorized", status: 401 } }) : route.continue()));
  await ready(page, "Create pod set after").click();
  await page.locator(".gate").waitFor();
  await page.unroute(creates);
  await giveToken(page, token);
  await ready(page, "Create pod set after").waitFor();
  const other = await context.newPage();
  await other.goto(`${origin}/podsets?ns=${namespace}`);
  await settled(other);

  await cluster.delete("serviceaccounts", namespace, "leaver");
  await page.locator(".gate").waitFor();
  await other.locator(".gate").waitFor();
  await page.getByText("The session has ended").waitFor();
  right((await page.getByLabel("Name", { exact: true }).inputValue()) === "after", "the sign-in has taken the page away");
  await cluster.create("serviceaccounts", namespace, account);
  await giveToken(page, await cluster.token(namespace, "leaver"));
  await settled(page);
  // Another tab goes on as soon as somebody comes to it.
  await other.evaluate(() => window.dispatchEvent(new Event("focus")));
  await other.locator(".gate").waitFor({ state: "detached" });
  await other.close();
  right(page.url() === `${origin}/create/podsets?ns=${namespace}`, `after the sign-in the page is ${page.url()}`);
  right((await page.getByLabel("Image").inputValue()) === "registry.example/after:1", "what was typed is lost with the session");
  await ready(page, "Create pod set after").click();
  await page.waitForURL(`**/podsets/${namespace}/after*`);
  right((await cluster.get("podsets", namespace, "after"))?.spec.template.spec.containers[0].image === "registry.example/after:1", "what was typed is not created");
  await context.close();
}

/** A drain goes on while its tab is hidden. Once it is over it is not sent again for who signs in over it: others may use the node by then. */
export async function drainsToTheEnd({ browser, origin, cluster }) {
  const name = "drainer";
  const account = await joins(cluster, name);
  await cluster.create("clusterrolebindings", undefined, {
    metadata: account.metadata, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" }, subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await cluster.create("pods", "default", {
    metadata: { name, labels: { app: name } },
    spec: { nodeName: "worker-12", tolerations: [{ operator: "Exists" }], containers: [{ name: "main", image: "example.com/nothing:1" }] },
  });
  await cluster.create("poddisruptionbudgets", "default", { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: name } } } });
  await signIn(page, `${origin}/nodes/worker-12`, await cluster.token(namespace, name));
  await press(page, "Drain");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Also evict pods that nothing creates again: they are lost").check();
  await ready(dialog, "Drain").click();
  await dialog.getByText("1 pod has to go.").waitFor();
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" }));
  await cluster.delete("poddisruptionbudgets", "default", name);
  await dialog.getByText("The node is drained. It stays cordoned.").waitFor();
  await page.evaluate(() => { delete document.visibilityState; });
  let sent = 0;
  page.on("request", (request) => { if (request.method() === "POST" && new URL(request.url()).pathname.endsWith("/drain")) sent++; });
  await cluster.delete("serviceaccounts", namespace, name);
  await page.locator(".gate").waitFor();
  await cluster.create("serviceaccounts", namespace, account);
  await giveToken(page, await cluster.token(namespace, name));
  await page.locator(".live.live").waitFor();
  await settled(page);
  await dialog.getByRole("button", { name: "Close" }).click();
  right(sent === 0, `a drain that is over is sent ${sent} times after the sign-in`);
  await action(page, await cluster.get("nodes", undefined, "worker-12"), "Uncordon");
  await cluster.until("nodes", undefined, "worker-12", "is open again", ({ spec }) => spec.unschedulable === undefined);
  await context.close();
  await cluster.delete("clusterrolebindings", undefined, name);
}

/** Somebody else signs in over the page: they get a new one, and nothing of what the other has typed. */
export async function another({ browser, origin, cluster }) {
  for (const name of ["first", "second"]) await joins(cluster, name);
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await signIn(page, `${origin}/create/podsets?ns=${namespace}`, await cluster.token(namespace, "first"));
  await page.getByLabel("Name", { exact: true }).fill("secret");
  await page.waitForFunction(() => Object.keys(sessionStorage).some((key) => key.startsWith("windlass.draft.")));
  await cluster.delete("serviceaccounts", namespace, "first");
  await page.locator(".gate").waitFor();
  await giveToken(page, await cluster.token(namespace, "second"));
  await settled(page);
  await page.waitForURL(`${origin}/`);
  right(await page.evaluate(() => Object.keys(sessionStorage).every((key) => !key.startsWith("windlass.draft."))), "what the other has typed is still in the browser");
  await open(page, `/create/podsets?ns=${namespace}`);
  right((await page.getByLabel("Name", { exact: true }).inputValue()) === "", "what the other has typed is in the form");
  await context.close();
}
