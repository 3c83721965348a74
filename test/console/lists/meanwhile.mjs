// What changes between a look and a click: what was chosen, selected or ticked is what is acted on, and nothing else.
import { ready, right } from "../page.mjs";

const write = (page, method, path, body) => page.evaluate(async ([how, at, what]) => (await fetch(at, {
  method: how, headers: { "Content-Type": how === "PATCH" ? "application/merge-patch+json" : "application/json" }, ...(what ? { body: JSON.stringify(what) } : {}),
})).ok, [method, path, body]);

/** Enter right after the last letter opens what the words find, and not what those before have found. */
export async function hurrying({ page, open, until, namespace }) {
  await open("/");
  let answer;
  const held = new Promise((done) => { answer = done; });
  let asked = false;
  const search = (url) => url.pathname === "/v1/search" && url.searchParams.get("q") === "runner-05";
  await page.route(search, async (route) => { asked = true; await held; await route.continue(); });
  await page.keyboard.press("Control+k");
  const palette = page.locator(".palette");
  await palette.getByRole("combobox").fill("runner-01");
  await palette.getByRole("option", { name: `${namespace}/runner-01` }).first().waitFor();
  await palette.getByRole("combobox").fill("runner-05");
  await page.keyboard.press("Enter");
  await until("the words are asked for", () => asked);
  right(!page.url().includes("runner-01") && (await palette.count()) === 1, `Enter has opened ${page.url()}`);
  answer();
  await page.waitForURL(`**/virtualmachines/${namespace}/runner-05*`);
  await page.unroute(search);
}

/** What is made anew under the name of a selected object is not selected. */
export async function remaking({ page, open, row, until, namespace }) {
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "anew" }, spec: { clusterIP: "None", selector: { app: "many" } } };
  const create = () => until("the service is created", () => write(page, "POST", `/v1/services?ns=${namespace}`, service));
  await create();
  await open(`/services?ns=${namespace}`);
  for (const name of ["anew", "many-000"]) await row(name).getByRole("checkbox").check();
  const bar = page.getByRole("region", { name: "What is selected" });
  await bar.getByText("2 selected").waitFor();
  await write(page, "DELETE", `/v1/services/${namespace}/anew`);
  await create();
  await bar.getByText("1 selected").waitFor();
  await page.mouse.move(0, 0); // the new row comes once no pointer is in the list
  await page.evaluate(() => document.activeElement?.blur());
  await until("the new row is there, and is not selected", async () => (await row("anew").count()) === 1 && !(await row("anew").getByRole("checkbox").isChecked()));
  right(await row("many-000").getByRole("checkbox").isChecked(), "what is still there is not selected any more");
  await write(page, "DELETE", `/v1/services/${namespace}/anew`);
}

/** A loss that begins while a dialog is open takes a tick there. */
export async function losing({ page, open, row, until, namespace }) {
  const keep = (deletionPolicy) => until(`the machine has ${deletionPolicy}`, () => write(page, "PATCH", `/v1/virtualmachines/${namespace}/runner-05`, { spec: { deletionPolicy } }));
  await keep("Retain");
  await open("/virtualmachines");
  await row("runner-05").focus();
  await page.keyboard.press("x");
  await page.getByRole("region", { name: "What is selected" }).getByRole("button", { name: "Delete 1" }).click();
  const dialog = page.getByRole("dialog");
  await ready(dialog, "Delete 1").waitFor();
  right((await dialog.getByRole("checkbox").count()) === 0, "what is retained takes a tick");
  await keep("Delete");
  await dialog.getByRole("checkbox").waitFor();
  right((await ready(dialog, "Delete 1").count()) === 0, "a machine that was to stay is deleted without a tick");
  await dialog.getByRole("button", { name: "Cancel" }).click();
}
