// Rehearses changes of a pool for which the controllers run.
import { ready, retype, right } from "../page.mjs";

/** A change of a pool is typed, rehearsed, closed, found again, and applied or discarded. */
export async function rehearsal({ page, open, read, until, look }) {
  // In the list E leads to where a pool is changed, which its YAML is not.
  await open("/nodepools");
  await page.locator("tr[data-key='/rehearsed']").focus();
  await page.keyboard.press("e");
  await page.waitForURL("**/nodepools/rehearsed");
  await page.getByRole("button", { name: "Change" }).waitFor();
  await until("the pool has put its label on the node", async () => (await read("/v1/nodes/rehearsed-01")).metadata.labels["example.com/uplink"] === "lte");
  const dialog = page.getByRole("dialog");
  const text = dialog.getByRole("textbox", { name: "The pool as it should be" });
  // Its YAML is there to read: saved from there, a change would not be rehearsed.
  await page.getByRole("button", { name: "Change" }).waitFor();
  await page.keyboard.press("y");
  await page.locator(".cm-line", { hasText: "uplink" }).first().waitFor();
  right((await page.getByRole("button", { name: /^Save/ }).count()) === 0 && (await page.locator(".cm-content").getAttribute("contenteditable")) === "false", "the YAML of a pool can be saved without a rehearsal");
  await page.getByRole("button", { name: "Change" }).click();
  await text.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("heading", { name: "Facts" }).waitFor();
  await page.getByRole("button", { name: "Change" }).waitFor();
  await page.keyboard.press("e"); // the same as the button
  await text.waitFor();
  await editing({ page, dialog, text, look });
  await retype(page, text, uplink, "example.com/uplink: fibre");
  await dialog.getByText("example.com/uplink=fibre").first().waitFor();
  right((await read("/v1/nodepools/rehearsed")).spec.labels["example.com/uplink"] === "lte", "the preview has written the pool");
  // Somebody else has set the label: it is left, or taken over.
  await dialog.getByRole("button", { name: "Rehearse" }).click();
  await dialog.getByText("spec.labels.example.com/uplink").waitFor();
  await look("conflict");
  await dialog.getByRole("button", { name: "Leave it" }).click();
  await dialog.getByRole("button", { name: "Rehearse" }).click();
  await dialog.getByRole("button", { name: "Take it over" }).click();
  await dialog.getByText("No node has been touched").waitFor();
  await look("rehearsal");
  const pool = await read("/v1/nodepools/rehearsed");
  right(pool.spec.dryRun === true, "the rehearsal is no dry run");
  right((await read("/v1/nodes/rehearsed-01")).metadata.labels["example.com/uplink"] === "lte", "the rehearsal has touched a node");
  await dialog.getByRole("button", { name: /^Apply to 1/ }).click();
  await dialog.waitFor({ state: "detached" });
  await until("the node has the new value", async () => (await read("/v1/nodes/rehearsed-01")).metadata.labels["example.com/uplink"] === "fibre");

  // Discarded: the pool is as it was before.
  await page.getByRole("button", { name: "Change" }).click();
  await text.waitFor();
  await retype(page, text, uplink, "example.com/uplink: copper");
  await dialog.getByText("example.com/uplink=copper").first().waitFor();
  const close = async () => { await page.keyboard.press("Escape"); await dialog.waitFor({ state: "detached" }); };
  await close();
  await page.getByRole("button", { name: "Change" }).click();
  await dialog.getByText("example.com/uplink=copper").first().waitFor(); // what was typed is there again
  await dialog.getByRole("button", { name: "Rehearse" }).click();
  await dialog.getByText("No node has been touched").waitFor();
  // Rehearsed again with another value: every report that is shown is on that one.
  await dialog.getByRole("button", { name: "Back to the editor" }).click();
  await retype(page, text, uplink, "example.com/uplink: glass");
  await dialog.getByText("example.com/uplink=glass").first().waitFor();
  await page.evaluate(() => {
    window.reported = new Set();
    const look = () => { for (const section of document.querySelectorAll("[role=dialog] section")) if (section.textContent.includes("status.dryRun")) for (const line of section.querySelectorAll(".add")) window.reported.add(line.textContent); };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await dialog.getByRole("button", { name: "Rehearse" }).click();
  await dialog.locator("section", { hasText: "status.dryRun" }).getByText("example.com/uplink=glass").waitFor();
  const reported = await page.evaluate(() => [...window.reported]);
  right(reported.join() === "+example.com/uplink=glass", `the second rehearsal shows the report of another one: ${reported}`);
  // Closed and opened again it can be applied or taken back; where another has begun it, it can be applied.
  await close();
  const says = (command) => page.locator(".samepop code", { hasText: command }).first().waitFor();
  await page.getByRole("button", { name: "Discard" }).hover();
  await says("kubectl patch nodepools.nodes.lailin.xyz rehearsed");
  await page.mouse.move(0, 0);
  const kept = await page.evaluate(() => { const all = Object.entries(sessionStorage); sessionStorage.clear(); return all; });
  await page.getByRole("button", { name: "Change" }).click();
  await ready(dialog, "Apply to 1 node").waitFor();
  right((await dialog.getByRole("button", { name: "Discard" }).getAttribute("aria-disabled")) === "true", "what nobody knows can be taken back");
  await close();
  await page.evaluate((all) => { for (const [name, value] of all) sessionStorage.setItem(name, value); }, kept);
  await page.getByRole("button", { name: "Change" }).click();
  await ready(dialog, "Apply to 1 node").waitFor();
  await dialog.getByRole("button", { name: "Discard" }).hover();
  await says('"example.com/uplink":"fibre"');
  await dialog.getByRole("button", { name: "Discard" }).click();
  await dialog.waitFor({ state: "detached" });
  const after = await read("/v1/nodepools/rehearsed");
  right(after.spec.dryRun !== true && after.spec.labels["example.com/uplink"] === "fibre", `a change that is discarded is not: ${JSON.stringify(after.spec)}`);
  await late({ page, open, dialog, text, read });
  await lost({ page, open, dialog, text, read });
}

const uplink = "example.com/uplink: ";

/** The text has the help of the schema, shows what is wrong at its line, and lets the keyboard out. */
async function editing({ page, dialog, text, look }) {
  await text.locator(".cm-line", { hasText: /^ *labels:$/ }).click();
  await dialog.locator(".help code", { hasText: /^spec\.labels$/ }).waitFor();
  await dialog.locator(".help p[lang=en]", { hasText: /\w{3}/ }).waitFor();
  await look("change of a pool");
  const wrong = dialog.locator(".cm-lint-marker-error").first();
  await retype(page, text, uplink, "example.com/uplink: not a value");
  await dialog.getByRole("alert").getByText("spec.labels").first().waitFor();
  await wrong.waitFor();
  await page.setViewportSize({ width: 390, height: 800 }); // where the text is wider than its place
  await look("change of a pool on a phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await retype(page, text, uplink, "example.com/uplink: [");
  await wrong.waitFor();
  await retype(page, text, uplink, "example.com/uplink: lte");
  await wrong.waitFor({ state: "detached" });
  // Escape ends a search, and not the dialog around it.
  await page.keyboard.press("Control+f");
  await dialog.locator(".cm-search").waitFor();
  await page.keyboard.press("Escape");
  await dialog.locator(".cm-search").waitFor({ state: "detached" });
  await text.focus();
  await page.keyboard.press("Tab");
  right(await text.evaluate((editor) => !editor.contains(document.activeElement) && document.querySelector("[role=dialog]").contains(document.activeElement)), "Tab does not lead out of the editor");
}

const pool = (url) => url.pathname === "/v1/nodepools/rehearsed";

/** Begins a change with another value of the label. */
async function begin({ page, dialog, text }, value) {
  await page.getByRole("button", { name: "Change" }).click();
  await text.waitFor();
  await retype(page, text, uplink, `example.com/uplink: ${value}`);
  await dialog.getByText(`example.com/uplink=${value}`).first().waitFor();
  await ready(dialog, "Rehearse").waitFor();
}

/** The answer to a rehearsal is late: what is typed meanwhile stays, and what is on its way cannot be taken back yet. It is begun over the text of the pool, where Ctrl S is the key of the dialog. */
async function late({ page, open, dialog, text, read }) {
  await open("/nodepools/rehearsed?tab=yaml");
  await page.locator(".cm-line", { hasText: "uplink" }).first().waitFor();
  await begin({ page, dialog, text }, "zinc");
  let answer;
  const held = new Promise((done) => { answer = done; });
  const sent = page.waitForRequest((request) => request.method() === "PATCH" && pool(new URL(request.url())));
  await page.route(pool, async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  await text.focus();
  await page.keyboard.press("Control+s");
  await sent;
  await dialog.locator("button[aria-disabled=true]", { hasText: "Discard" }).waitFor();
  await retype(page, text, uplink, "example.com/uplink: iron");
  answer();
  await ready(dialog, "Rehearse").waitFor(); // again, for the other value
  right((await text.locator(".cm-line", { hasText: "iron" }).count()) === 1, "what was typed during a rehearsal is lost with its answer");
  await page.unroute(pool);
  await ready(dialog, "Rehearse").click();
  await dialog.getByText("No node has been touched").waitFor();
  // The answer to what ends it is lost: nobody else has done that.
  await withoutAnswers(page, async () => {
    await ready(dialog, "Apply to 1 node").click();
    await dialog.waitFor({ state: "detached" });
  });
  const { spec } = await read("/v1/nodepools/rehearsed");
  right(spec.dryRun !== true && spec.labels["example.com/uplink"] === "iron", `a change whose last answer was lost is not applied: ${JSON.stringify(spec)}`);
}

/** Writes to the pool are done, and nobody is told. */
async function withoutAnswers(page, act) {
  await page.route(pool, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    await route.fetch();
    return route.abort();
  });
  await act();
  await page.unroute(pool);
}

/** The answer to a rehearsal is lost on its way, and it is taken back all the same. What somebody else makes of the pool meanwhile is not applied. */
async function lost({ page, open, dialog, text, read }) {
  await open("/nodepools/rehearsed");
  const rehearse = async (value) => {
    await begin({ page, dialog, text }, value);
    await ready(dialog, "Rehearse").click();
    await dialog.getByText("No node has been touched").waitFor();
  };
  await withoutAnswers(page, () => rehearse("steel")); // the stream tells that it was written
  await ready(dialog, "Discard").click();
  await dialog.waitFor({ state: "detached" });
  const { spec } = await read("/v1/nodepools/rehearsed");
  right(spec.dryRun !== true && spec.labels["example.com/uplink"] === "iron", `a change whose answer was lost is not discarded: ${JSON.stringify(spec)}`);

  await rehearse("brass");
  await page.evaluate(() => fetch("/v1/nodepools/rehearsed", { method: "PATCH", headers: { "Content-Type": "application/merge-patch+json" }, body: JSON.stringify({ spec: { priority: 7 } }) }));
  await dialog.locator("button[aria-disabled=true]", { hasText: "Somebody else has changed the pool since." }).filter({ hasText: "Apply" }).waitFor();
}
