// What somebody asks a list for: it stays as it was typed, and they get it wherever their pointer is.
import { patience } from "../browser.mjs";
import { ready, right } from "../page.mjs";

/** What is typed stays as it is typed, also after the list was asked for it. */
export async function typing({ page, open, row }) {
  await open("/virtualmachines");
  const field = page.getByRole("combobox", { name: "Filter Virtual machines" });
  const type = async (letters, words, value) => {
    const answer = page.waitForResponse((response) => response.url().includes("/v1/tables/") && new URL(response.url()).searchParams.get("q") === words);
    await field.pressSequentially(letters);
    await answer;
    right((await field.inputValue()) === value, `the field has ${JSON.stringify(await field.inputValue())}, want ${JSON.stringify(value)}`);
  };
  await type("web ", "web", "web ");
  await type("db", "web db", "web db");
  await type(' "a b', "web db a b", 'web db "a b');
  // What comes from elsewhere replaces it.
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await row("runner-01").waitFor();
  right((await field.inputValue()) === "", `after it was cleared the field has ${await field.inputValue()}`);
}

/** Somebody whose pointer is in a list and who asks for something else gets it: only what has changed by itself waits. */
export async function pointing({ page, open, row, read, until, namespace }) {
  const names = () => page.locator("tr[data-key]").evaluateAll((rows) => rows.map((each) => each.dataset.key.split("/")[1]));
  await open("/virtualmachines?group=none");
  await row("runner-01").hover();
  await page.getByRole("combobox", { name: "Filter Virtual machines" }).fill("runner-05"); // the pointer stays where it is
  await row("runner-01").waitFor({ state: "detached" });
  right((await names()).join() === "runner-05", `the filter leaves ${await names()}`);
  right((await page.locator("button.stale").count()) === 0, "rows that do not match are called gone");

  await open(`/virtualmachines?group=none&ns=${namespace}`);
  await row("runner-01").hover();
  await page.evaluate(() => { window.history.pushState({}, "", "/virtualmachines?group=none&ns=default"); window.dispatchEvent(new PopStateEvent("popstate")); });
  await row("runner-01").waitFor({ state: "detached" });
  await page.goBack();
  await row("runner-01").waitFor();

  await open(`/services?ns=${namespace}`);
  await page.locator("tr[data-key]").first().hover();
  await page.getByRole("button", { name: "Sort by Age" }).click();
  await page.waitForURL(/sort=-created/);
  const newest = (await read(`/v1/tables/services?ns=${namespace}&sort=-created&limit=500`)).rows[0].object.metadata.name;
  await until(`${newest} is the first row`, async () => (await names())[0] === newest);

  // The drawer goes on to the next object, and under the pointer to the events of that one.
  await open(`/virtualmachines?group=none&open=${namespace}/runner-05`);
  await row("runner-06").waitFor();
  const drawer = page.locator("aside.drawer");
  await drawer.getByText("StageOne").hover();
  await page.keyboard.press("]");
  await drawer.getByRole("heading", { name: /runner-06$/ }).waitFor();
  await drawer.getByText("StageOne").waitFor({ state: "detached" });
}

/** What has come and gone among the pods of an object can be asked for: on the way to the button nothing changes. */
export async function among({ page, open, namespace }) {
  const name = "train-6c9f7d5b8-f4hn"; // it waits for a node, so that it is gone at once
  await open(`/podsets/${namespace}/train`);
  const line = (of) => page.locator("main tbody tr", { has: page.getByRole("link", { name: of, exact: true }) });
  await line("train-6c9f7d5b8-a4hn").hover();
  await line(name).waitFor();
  await page.evaluate((at) => fetch(at, { method: "DELETE" }), `/v1/pods/${namespace}/${name}`);
  const renew = page.getByRole("button", { name: "0 new, 1 gone" });
  await renew.waitFor();
  right((await line(name).count()) === 1, "a pod went away under the pointer");
  await renew.hover();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  right((await line(name).count()) === 1 && (await renew.count()) === 1, "on the way to the button the pods change, and it is gone");
  if ((await renew.count()) === 1) await renew.click();
  await line(name).waitFor({ state: "detached" });
}

/** A list that is sorted by what is not of its own objects is in that order, whatever changes. */
export async function ordered({ page, open, until }) {
  const first = () => page.locator("tr[data-key]").first().getAttribute("data-key");
  await page.mouse.move(0, 0); // rows stay under a pointer
  await open("/nodes?sort=Pools");
  await until("a node of the first pool is the first row", async () => (await first()) === "/edge-01");
  // The first change may come with what is asked for again after the page is there; no node changes with the second.
  for (const [pool, next] of [["edge", "/gpu-01"], ["gpu", "/rehearsed-01"]]) {
    await page.evaluate((name) => fetch(`/v1/nodepools/${name}`, { method: "DELETE" }), pool);
    await until(`${next} is the first row, without the pool ${pool}`, async () => (await first()) === next);
  }
}

/** Somebody who turns the wheel over a list gets to its end: of its pages of fifty, all but the first come while the pointer is in it. */
export async function growing({ page, open, row, namespace }) {
  const table = (url) => url.pathname === "/v1/tables/services";
  let point;
  const pointed = new Promise((done) => { point = done; });
  await page.route(table, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("limit", "50");
    if (url.searchParams.has("continue")) await pointed;
    await route.continue({ url: String(url) });
  });
  await open(`/services?ns=${namespace}`);
  await row("many-000").hover();
  point();
  const last = page.locator(`tr[data-key="${namespace}/many-149"]`);
  for (const end = Date.now() + patience; (await last.count()) === 0 && Date.now() < end;) await page.mouse.wheel(0, 600);
  right((await last.count()) === 1, "a list ends at its first page while the pointer is in it");
  right((await page.locator("button.stale").count()) === 0, "rows that were scrolled to are called new");
  await page.unroute(table);
}

/** The namespace applies to all pages: it stays with a click on a name and on the way back, until another one is chosen. */
export async function staying({ page, open, row, namespace }) {
  await open(`/virtualmachines?group=none&ns=${namespace}`);
  await row("runner-01").getByRole("link").click();
  await page.waitForURL(`**/virtualmachines/${namespace}/runner-01?ns=${namespace}`);
  await page.locator(".crumbs").getByRole("link", { name: "Virtual machines" }).click();
  await page.waitForURL(`**/virtualmachines?ns=${namespace}`);
  await page.locator(".head select").selectOption("");
  await page.waitForURL("**/virtualmachines");
}

/** With the keyboard a list of many rows is one stop, and the drawer gives the focus back to the row of what it shows. */
export async function stops({ page, open, row, namespace }) {
  await open(`/services?ns=${namespace}`);
  await row("many-003").focus();
  await page.keyboard.press("x"); // the bar comes after the list
  await page.getByText("1 selected").waitFor();
  right((await page.locator("tr[data-key][tabindex='0']").count()) === 1, "Tab leads to more than one row");
  const inList = () => page.evaluate(() => document.activeElement?.closest("tr[data-key]")?.dataset.key);
  for (let stop = 0; stop < 8 && (await inList()) === `${namespace}/many-003`; stop++) await page.keyboard.press("Tab");
  right((await inList()) === undefined, `Tab leads from the row to ${await inList()}`);
  await page.keyboard.press("Shift+Tab");
  right((await inList()) === `${namespace}/many-003`, `Shift Tab leads back to ${await inList()}`);

  await page.keyboard.press("Space");
  const drawer = page.locator("aside.drawer");
  await drawer.getByRole("heading", { name: /many-003$/ }).waitFor();
  await drawer.getByRole("button", { name: "Object after" }).focus();
  await page.keyboard.press("Enter");
  await drawer.getByRole("heading", { name: /many-004$/ }).waitFor();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  right((await inList()) === `${namespace}/many-004`, `the drawer has given the focus to ${await inList()}`);
}

/** Pages of fifty, of which all but the first are refused: it is said, and they are not asked for again and again. */
export async function refusing({ page, open, until, namespace }) {
  let refused = 0;
  const table = (url) => url.pathname === "/v1/tables/services";
  await page.route(table, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("limit", "50");
    if (!url.searchParams.has("continue")) return route.continue({ url: String(url) });
    refused++;
    return route.fulfill({ status: 429, contentType: "application/problem+json", body: JSON.stringify({ type: "about:blank", code: "TooManyRequests", title: "Too many requests", status: 429, detail: "Ask later." }) });
  });
  await open(`/services?ns=${namespace}`);
  await page.getByRole("alert").getByText("Ask later.").waitFor();
  await page.getByRole("checkbox", { name: "Select all of the list" }).check();
  await page.getByRole("button", { name: "Select all 150 of the filter" }).click();
  await page.locator(".toast").getByText("Not done: Ask later.").waitFor();
  await page.getByText("50 selected").waitFor();
  right(refused < 10, `pages that are refused were asked for ${refused} times`); // changes of the list ask again as well
  const again = page.getByRole("alert").getByRole("button", { name: "Try again" });
  const before = refused;
  await again.click();
  await until("the page is asked for again", async () => refused > before);
  await page.unroute(table);
  // A change of the list asks again as well, so that the button may be gone before it is pressed.
  await again.click({ timeout: 5_000 }).catch(() => undefined);
  await page.getByRole("alert").waitFor({ state: "detached" });
}

/** A search that fails is none without a result, and who cannot be signed out is told so. */
export async function failing({ page, open }) {
  await open("/");
  const asked = (url) => ["/v1/search", "/v1/session"].includes(url.pathname);
  await page.route(asked, (route) => route.fulfill({ status: 429, contentType: "application/problem+json", body: JSON.stringify({ type: "about:blank", code: "TooManyRequests", title: "Too many requests", status: 429, detail: "Ask later." }) }));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator(".toast").getByText("Not done: Ask later.").waitFor();
  await page.locator(".toast").getByRole("button", { name: "Dismiss" }).click();
  await page.keyboard.press("Control+k");
  const palette = page.locator(".palette");
  await palette.getByRole("combobox").fill("nothing-like-this");
  await palette.getByRole("alert").getByText("Ask later.").waitFor();
  right((await palette.getByText("Nothing has this name.").count()) === 0, "a search that failed has found nothing");
  await page.unroute(asked);
  await palette.getByRole("button", { name: "Try again" }).click();
  await palette.getByText("Nothing has this name.").waitFor();
  await page.keyboard.press("Escape");
}

/** Ctrl S creates what a form says, and not from under what lies over it. */
export async function underDialogs({ page, open, namespace }) {
  await open(`/create/podsets?ns=${namespace}`);
  await page.getByLabel("Name", { exact: true }).fill("once");
  await page.getByLabel("Image").fill("registry.example/once:1");
  await ready(page, "Create pod set once").waitFor();
  let sent = 0;
  page.on("request", (request) => { if (request.method() === "POST" && request.url().includes("/v1/podsets") && !request.url().includes("dryRun")) sent++; });
  await page.keyboard.press("Control+k");
  const palette = page.locator(".palette");
  await palette.getByRole("combobox").waitFor();
  await page.keyboard.press("Control+s");
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "New pod set" }).waitFor();
  right(sent === 0, "Ctrl S creates what lies under a dialog");
  await page.keyboard.press("Control+s");
  await page.waitForURL(`**/podsets/${namespace}/once*`);
}

/** A page of a cluster leads to the form of a Kubeconfig for it, and nobody loses what they have typed there, or finds what they have not. */
export async function makingOne({ page, open, read, until }) {
  const cluster = JSON.stringify({ apiVersion: "clusterprovisioner.rke.io/v1alpha1", kind: "Cluster", metadata: { name: "lab" }, spec: { provisioner: "devcluster", approval: "Manual", config: { inline: "cluster_name: lab\nnodes: []\n" } } });
  await page.evaluate((body) => fetch("/v1/clusters", { method: "POST", headers: { "Content-Type": "application/json" }, body }), cluster);
  await until("the cluster is there", async () => (await read("/v1/clusters/lab")).metadata?.name === "lab");
  const name = page.getByLabel("Name", { exact: true });
  const lead = async () => {
    await open("/clusters/lab");
    await page.getByRole("button", { name: "Make one" }).click();
    await page.waitForURL("**/create/kubeconfigs?of=lab");
    await name.waitFor();
  };
  await open("/create/kubeconfigs");
  await name.fill("typed");
  await page.waitForFunction(() => Object.keys(sessionStorage).some((key) => key.endsWith("create/kubeconfigs")));
  await lead();
  right((await name.inputValue()) === "typed", `in place of what was typed there is ${await name.inputValue()}`);
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.waitForURL("**/kubeconfigs");
  await lead();
  await ready(page, "Create kubeconfig lab-view").waitFor(); // the API server has tried it
  await open("/create/kubeconfigs");
  await name.waitFor();
  right((await name.inputValue()) === "", `nobody has typed ${await name.inputValue()}`);
}

/** Another object takes the name of the one in the editor: what is typed stays, also over a reload, and is saved to that one when the reader says so. */
export async function replacing({ page, open, read, until, namespace }) {
  const send = (method, path, body) => page.evaluate(async ([how, at, what]) => (await fetch(at, { method: how, headers: { "Content-Type": "application/json" }, ...(what ? { body: what } : {}) })).ok, [method, path, body]);
  const pods = JSON.stringify({ apiVersion: "apps.jicki.cn/v1alpha1", kind: "PodSet", metadata: { name: "again" }, spec: { size: 1 } });
  const create = () => until("the pod set is created", () => send("POST", `/v1/podsets?ns=${namespace}&fieldManager=windlass-console-create`, pods));
  await create();
  await open(`/podsets/${namespace}/again?tab=yaml`);
  await page.locator(".cm-line", { hasText: /size: \d/ }).click();
  for (const key of ["End", "Backspace", "3"]) await page.keyboard.press(key);
  await ready(page, "Save 1 change").waitFor();
  await send("DELETE", `/v1/podsets/${namespace}/again`);
  await create();
  const notice = page.locator(".edit .r").getByText("Another object has this name now");
  await notice.waitFor();
  await page.reload();
  await notice.waitFor();
  await page.locator(".cm-line", { hasText: "size: 3" }).waitFor();
  await page.getByRole("button", { name: "Go on with this one" }).click();
  await ready(page, "Save 1 change").waitFor();
  // It is saved once, however often the key is pressed until the answer is there.
  let answer;
  let sent = 0;
  const held = new Promise((done) => { answer = done; });
  const saves = (url) => url.pathname === `/v1/podsets/${namespace}/again`;
  await page.route(saves, async (route) => {
    if (route.request().method() === "PATCH") { sent++; await held; }
    await route.continue();
  });
  await page.keyboard.press("Control+s");
  await until("it is sent", () => sent > 0);
  await page.keyboard.press("Control+s");
  answer();
  await until("what was typed is saved to the other object", async () => (await read(`/v1/podsets/${namespace}/again`)).spec.size === 3);
  await page.locator("button", { hasText: "Save 0 changes" }).waitFor(); // the answer is there as well
  right(sent === 1, `a text was saved ${sent} times`);
  await page.unroute(saves);
}
