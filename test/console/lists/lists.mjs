// Visits lists, the map and a pool: node lists.mjs CHROMIUM URL NAMESPACE. Waits for states and never for times; what is wrong is printed,
// and the exit code is 1 then.
import { end, look as see, patience, reader, start, wrong } from "../browser.mjs";
import { right } from "../page.mjs";
import { among, failing, growing, makingOne, ordered, pointing, refusing, replacing, staying, stops, typing, underDialogs } from "./asking.mjs";
import { hurrying, losing, remaking } from "./meanwhile.mjs";
import { rehearsal } from "./rehearsal.mjs";
import { scaling } from "./scaling.mjs";

const [executablePath, url, namespace] = process.argv.slice(2);
const origin = new URL(url).origin;
const browser = await start(executablePath);

let page;
const look = (where) => see(page, where);
const open = async (path) => {
  await page.goto(origin + path);
  await page.locator(".live.live").waitFor();
};
const read = (path) => page.evaluate(async (at) => (await fetch(at)).json(), path);
const row = (name) => page.locator(`tr[data-key="${namespace}/${name}"]`);
// Asked again until it holds: what is written is seen a moment later.
const until = async (what, holds) => {
  const last = Date.now() + patience;
  while (Date.now() < last) {
    if (await holds()) return;
    await page.waitForTimeout(200);
  }
  throw new Error(`not within ${patience} ms: ${what}`);
};

async function machines() {
  await open("/virtualmachines");
  for (const host of ["hypervisor", "rack-1", "rack-2"]) await page.locator("tr.group", { hasText: host }).waitFor();
  await page.locator("tr.group", { hasText: "rack-2" }).getByText("does not answer").waitFor();
  await page.locator("tr.group", { hasText: "rack-1" }).getByText("6 CPU").waitFor();
  await page.getByRole("button", { name: "rack-1" }).click();
  await row("runner-01").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "rack-1" }).click();
  await row("runner-01").waitFor();

  // The drawer goes on as the groups stand: runner-05 is the last of the first host.
  await page.evaluate(() => document.activeElement?.blur());
  await row("runner-05").locator("td").nth(2).click();
  const drawer = page.locator("aside.drawer");
  await drawer.getByRole("heading", { name: /runner-05$/ }).waitFor();
  await page.keyboard.press("]");
  await drawer.getByRole("heading", { name: /runner-01$/ }).waitFor();
  await page.keyboard.press("[");
  await drawer.getByRole("heading", { name: /runner-05$/ }).waitFor();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });

  // By keyboard: X selects, Shift and the arrow extend, and the bar shows the very command.
  await row("runner-04").focus();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowDown");
  const bar = page.getByRole("region", { name: "What is selected" });
  await bar.getByText("2 selected").waitFor();
  await bar.getByRole("button", { name: "Pause 2" }).hover();
  await bar.getByText(`kubectl annotate virtualmachine runner-04 runner-05 -n ${namespace} windlass.io/paused=true`).waitFor();
  await look("machines, two selected");
  await bar.getByRole("button", { name: "Pause 2" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${namespace}/runner-05`).waitFor();
  await look("dialog for two");
  await dialog.getByRole("button", { name: "Pause 2" }).click();
  await dialog.waitFor({ state: "detached" });
  for (const name of ["runner-04", "runner-05"]) {
    const machine = await read(`/v1/virtualmachines/${namespace}/${name}`);
    right(machine.metadata.annotations?.["windlass.io/paused"] === "true", `${name} is not paused`);
  }

  // The row's menu has what its buttons have.
  await row("runner-01").getByRole("button", { name: "Actions of runner-01" }).click();
  await page.getByRole("menuitem", { name: "Stop" }).waitFor();
  await page.keyboard.press("Escape");

  // What is deleted while nobody is in the list goes; while the pointer is there it stays, and a line says so.
  await row("runner-03").hover();
  await page.evaluate((at) => fetch(at, { method: "DELETE" }), `/v1/virtualmachines/${namespace}/runner-02`);
  await page.getByRole("button", { name: "0 new, 1 gone" }).waitFor();
  right(await row("runner-02").count() === 1, "a row went away under the pointer");
  await page.getByRole("button", { name: "0 new, 1 gone" }).click();
  await row("runner-02").waitFor({ state: "detached" });
}

/** Several are deleted as one is: with what goes and what stays, and a tick where something is lost. */
async function deletion() {
  await open("/podsets");
  await row("train").focus();
  await page.keyboard.press("x");
  // The bar shows another command under the pointer, and its buttons stay where they are.
  await page.getByRole("region", { name: "What is selected" }).getByRole("button", { name: "Delete 1" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Images").waitFor();
  right((await dialog.getByRole("img", { name: "stays" }).count()) > 0, "the dialog does not say what stays");
  const button = dialog.getByRole("button", { name: "Delete 1" });
  right((await button.getAttribute("aria-disabled")) === "true", "running pods are deleted without a tick");
  await dialog.getByRole("checkbox", { name: "Lose 6 running pods" }).check();
  right((await button.getAttribute("aria-disabled")) === "false", "the tick allows nothing");
  await look("dialog that deletes");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await stopping();
}

/** Who sees the wrong names go stops it: nothing more is sent, and the dialog says what was. */
async function stopping() {
  await open(`/services?ns=${namespace}`);
  await row("many-000").waitFor();
  await page.getByRole("checkbox", { name: "Select all of the list" }).check();
  await page.getByRole("region", { name: "What is selected" }).getByRole("button", { name: /^Delete \d+$/ }).click();
  const dialog = page.getByRole("dialog");
  let answer;
  const held = new Promise((done) => { answer = done; });
  let sent = 0;
  const deletes = (url) => url.pathname.startsWith("/v1/services/");
  await page.route(deletes, async (route) => {
    if (route.request().method() !== "DELETE") return route.continue();
    sent++;
    await held;
    return route.fulfill({ json: {} }); // nothing is deleted: only what is sent counts
  });
  await dialog.getByRole("button", { name: /^Delete \d+$/ }).click();
  await until("four are sent", () => sent === 4);
  await dialog.getByRole("button", { name: "Stop" }).click();
  answer();
  await dialog.getByRole("status").getByText(/^Stopped: \d+ not sent/).waitFor();
  right(sent === 4, `after Stop ${sent - 4} more were sent`);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.unroute(deletes);
}

async function columnsAndFilter() {
  await open("/virtualmachines?group=none");
  await row("runner-01").waitFor();
  right(await page.getByRole("columnheader", { name: "Host" }).count() === 0, "a column of lower priority is shown at first");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Host" }).check();
  await page.getByRole("columnheader", { name: "Host" }).waitFor();
  await page.waitForURL(/cols=/);
  await open("/virtualmachines");
  await page.getByRole("columnheader", { name: "Host" }).waitFor();

  const field = page.getByRole("combobox", { name: "Filter Virtual machines" });
  await field.fill("-l app=none");
  await field.press("Enter");
  await page.getByText("Nothing matches the filter.").waitFor();
  right((await field.inputValue()) === "", `the text of a token stays in the field: ${await field.inputValue()}`);
  await page.getByRole("button", { name: "Take app=none away" }).click();
  await row("runner-01").waitFor();
  await field.fill("-l a=b=c");
  await field.press("Enter");
  await page.locator("#filter-said.bad").waitFor();
  await page.locator(".token").waitFor({ state: "detached" });
  await row("runner-01").waitFor(); // the list is that of before
  right((await field.inputValue()) === "-l a=b=c", `of a wrong selector the field has ${await field.inputValue()}`);
  // What is typed is gone on with: a label that machines have, then its values.
  await field.fill("ra");
  await page.getByRole("option", { name: "-l rack label on 2 of these" }).waitFor();
  await look("suggestions of the filter");
  await field.press("ArrowDown");
  await field.press("ArrowDown");
  await field.press("Enter");
  await page.getByRole("option", { name: "-l rack=b2 on 2 of these" }).click();
  await field.press("Enter");
  await page.getByRole("button", { name: "Take rack=b2 away" }).waitFor();
  await row("runner-01").waitFor({ state: "detached" });
  await row("runner-05").waitFor();
  // Of the list one came from, ] leads to the next object and [ back.
  await row("runner-05").getByRole("link").click();
  await page.waitForURL(`**/virtualmachines/${namespace}/runner-05*`);
  await page.getByRole("heading", { name: "Facts" }).waitFor();
  await page.keyboard.press("]");
  await page.waitForURL(`**/virtualmachines/${namespace}/runner-06*`);
  await page.getByRole("heading", { name: "Facts" }).waitFor();
  await page.keyboard.press("[");
  await page.waitForURL(`**/virtualmachines/${namespace}/runner-05*`);
  await open("/virtualmachines");
  let sent = 0;
  page.on("request", (request) => { if (request.url().length > 400 && request.url().includes("/v1/tables/")) sent++; });
  await field.fill("x".repeat(300));
  await page.getByText("300 characters, and the API takes 256").waitFor();
  await page.waitForURL(/q=x{300}/);
  right(sent === 0, "a filter that is too long is sent");
}

async function map() {
  await open("/nodes");
  const stop = page.getByRole("application");
  await stop.focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".cellpop").waitFor();
  await look("map with a cell");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: /^Node / }).waitFor();
  await page.getByRole("button", { name: "Zones" }).click();
  await page.locator(".pl", { hasText: "zone-a" }).waitFor();
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await stop.waitFor({ state: "detached" });
  await open("/nodes"); // the browser remembers it
  await page.locator("tr[data-key]").first().waitFor();
  right((await stop.count()) === 0, "the map is there again");
  await page.getByRole("button", { name: "Map and table" }).click();
  await stop.waitFor();
}

/** Events take selectors, and a wrong one stays with the server's words. */
async function events() {
  await open("/events");
  const field = page.getByRole("combobox", { name: "Filter Events" });
  const event = (of) => page.locator("tbody tr", { hasText: of });
  await event("StageOne").waitFor();
  await event("StageTwo").waitFor();
  await field.fill("--field-selector reason=StageOne");
  await field.press("Enter");
  await event("StageTwo").waitFor({ state: "detached" });
  await event("StageOne").waitFor();
  await page.getByRole("button", { name: "Take reason=StageOne away" }).click();
  await field.fill("-l a=b=c");
  await field.press("Enter");
  await page.locator("#filter-said.bad").waitFor();
}

/** The names of the columns stay at the top of a long list, and no row that has the focus is under them. */
async function head() {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(`/services?ns=${namespace}`);
  await page.locator("tr[data-key]").first().waitFor();
  await page.evaluate(() => { document.getElementById("content").scrollTop = 1500; });
  await until("the head of a long list is at the top of the page", () => page.evaluate(() => {
    const [head, content] = [document.querySelector(".list th").getBoundingClientRect(), document.getElementById("content").getBoundingClientRect()];
    return Math.abs(head.top - content.top) < 2 && document.elementFromPoint(head.left + head.width / 2, head.top + head.height / 2)?.closest("th") != null;
  }));
  await until("a row below the head takes the focus", () => page.evaluate(() => { // once the rows of this place are drawn
    const bottom = document.querySelector(".list th").getBoundingClientRect().bottom;
    const row = [...document.querySelectorAll("tr[data-key]")].find((each) => each.getBoundingClientRect().top > bottom + 40);
    row?.focus();
    return row !== undefined && document.activeElement === row;
  }));
  for (let rows = 0; rows < 4; rows++) await page.keyboard.press("k");
  await until("the row that has the focus is not under the head", () => page.evaluate(() => document.activeElement.getBoundingClientRect().top >= document.querySelector(".list th").getBoundingClientRect().bottom - 1));
}

/** On a phone rows are as high as they are, so that the list is as long as its rows, also of those that are not in the page. */
async function phone() {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(`/services?ns=${namespace}`);
  await page.locator("tr[data-key]").first().waitFor();
  await until("the list is as high as 150 of its rows", () => page.evaluate(() => {
    const row = document.querySelector("tr[data-key]");
    const wanted = 150 * row.getBoundingClientRect().height;
    return row.getBoundingClientRect().height > 40 && Math.abs(row.parentElement.getBoundingClientRect().height - wanted) < wanted / 50;
  }));
  right((await page.locator("tr[data-key]").count()) < 100, "all rows are in the page");
  await page.evaluate(() => { const content = document.getElementById("content"); content.scrollTop = content.scrollHeight; });
  await page.locator(`tr[data-key="${namespace}/many-149"]`).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
}

try {
  const context = await reader(browser, origin);
  page = await context.newPage();
  await page.goto(url);
  await page.locator(".live.live").waitFor();
  for (const part of [machines, deletion, scaling, columnsAndFilter, typing, pointing, growing, staying, stops, refusing, failing, hurrying, remaking, losing, underDialogs, makingOne, replacing, among, events, map, ordered, head, phone, rehearsal]) {
    await part({ page, open, row, read, until, look, namespace }).catch((error) => wrong.push(`${part.name}: ${error}`));
  }
} catch (error) {
  wrong.push(String(error));
}
await end(browser);
