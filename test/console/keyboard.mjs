// Goes through the console without the mouse: jumps, lists, and a whole task from creating an object to deleting it.
import { wrong } from "./browser.mjs";
import { owners } from "./cluster.mjs";
import { open, ready, right, settled } from "./page.mjs";

/** Presses Tab until the focus is on an element, and looks on the way whether it can be seen. */
async function tabTo(page, element, key = "Tab") {
  await element.waitFor();
  for (let stops = 0; stops < 150; stops++) {
    if (await element.evaluate((wanted) => wanted === document.activeElement)) return;
    await page.keyboard.press(key);
    const hidden = await page.evaluate(() => {
      for (let at = document.activeElement, up = 0; at && up < 4; at = at.parentElement, up++) {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
        if ((outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none") return undefined;
      }
      return document.activeElement === document.body ? undefined : document.activeElement?.outerHTML.slice(0, 160);
    });
    if (hidden) wrong.push(`the focus cannot be seen on ${page.url()}: ${hidden}`);
  }
  throw new Error(`Tab does not lead to ${element} on ${page.url()}`);
}

export async function byKeyboard(page) {
  const { origin } = new URL(page.url());
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
  await open(page, "/virtualmachines");
  await page.locator("tr[data-key]").first().focus(); // "e" alone edits the object of the row
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.waitForURL("**/events");
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await page.waitForURL(`${origin}/`);
}

/** Creates a pod set, sizes it and deletes it, and never touches the mouse. */
export async function taskByKeyboard(page, cluster) {
  const typed = { metadata: { name: "typed" } };
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForURL("**/podsets");
  await settled(page);
  await page.keyboard.press("n");
  await page.waitForURL("**/create/podsets");
  await settled(page);
  await tabTo(page, page.getByLabel("Name", { exact: true }));
  await page.keyboard.type(typed.metadata.name);
  await tabTo(page, page.getByLabel("Image"));
  await page.keyboard.type("registry.example/typed:1");
  await tabTo(page, ready(page, "Create pod set typed"));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/podsets/default/typed");
  await settled(page);

  await tabTo(page, page.getByLabel("Number of pods"));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  const sized = await cluster.until("podsets", "default", "typed", "has 3 pods", ({ spec }) => spec.size === 3);
  right(owners(sized, "f:spec", "f:size").includes("windlass-console-scale"), `spec.size is owned by ${owners(sized, "f:spec", "f:size")}`);
  await cluster.until("podsets", "default", "typed", "its pods are available", ({ status }) => status?.availableReplicas === 3);

  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement?.blur()); // letters never fire in a field, and Tab would take long
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForURL("**/podsets");
  const row = page.locator("tr[data-key='default/typed']");
  await row.waitFor();
  await tabTo(page, page.locator("tr[data-key]").first());
  for (let rows = await page.locator("tr[data-key]").count(); rows > 0 && !(await row.evaluate((wanted) => wanted === document.activeElement)); rows--) await page.keyboard.press("j");
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog");
  await tabTo(page, dialog.getByRole("button", { name: "Cancel" }));
  await tabTo(page, dialog.getByRole("checkbox"));
  await page.keyboard.press("Space");
  await tabTo(page, dialog.getByRole("button", { name: "Delete typed" }));
  await page.keyboard.press("Enter");
  await cluster.gone("podsets", "default", "typed");
  await dialog.waitFor({ state: "detached" });
}
