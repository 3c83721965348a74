// What visits do on a page. Waits for states and never for times.
import { errors, patience, wrong } from "./browser.mjs";

/** Opens a page as a link does, without loading the program again, and waits until it is there. */
export async function open(page, path) {
  await page.evaluate((to) => { window.history.pushState({}, "", to); window.dispatchEvent(new PopStateEvent("popstate")); }, path);
  await settled(page);
}

export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  // What loads is busy from its first moment, also while its bars are not drawn yet.
  await page.waitForFunction(() => document.querySelector("main [aria-busy=true]") === null);
}

/** Enters with the URL that "windlass ui" prints. */
export async function enter(page, url) {
  await page.goto(url);
  await page.locator(".live.live").waitFor();
  await settled(page);
}

/** Signs in with a token, on the page that somebody was sent. */
export async function signIn(page, address, token) {
  await page.goto(address);
  await giveToken(page, token);
  await settled(page);
}

export async function giveToken(page, token) {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.locator(".gate").waitFor({ state: "detached" });
  await page.locator(".live.live").waitFor();
}

export const theme = (page, name) => page.evaluate((to) => { document.documentElement.dataset.theme = to; }, name);

export const right = (holds, what) => { if (!holds) wrong.push(what); };

/** A button that can be pressed now. */
export const ready = (within, name) => within.locator("button[aria-disabled=false]").and(within.getByRole("button", { name, exact: true }));

/** Types a line of the text in an editor anew, from its first letter to its end; with nothing it is blank. */
export async function retype(page, editor, line, now) {
  await editor.locator(".cm-line", { hasText: line }).first().click();
  for (const key of ["End", "Shift+Home", "Backspace"]) await page.keyboard.press(key);
  await page.keyboard.type(now);
}

/** Whether a request asks the API to change something. */
const writes = (request) => request.method() !== "GET" && !/\/(diff|preview|session)$/.test(new URL(request.url()).pathname) && !request.url().includes("dryRun=All");

/** Holds a write against the object: it names the UID, so that it acts on no other one, and is granted. */
async function pinned(request, object) {
  const { pathname, searchParams } = new URL(request.url());
  right(searchParams.get("uid") === object.metadata.uid, `${request.method()} ${pathname} does not carry the UID of the object`);
  const answer = await request.response();
  right(answer?.ok(), `${request.method()} ${pathname}: ${answer?.status()} ${answer?.ok() ? "" : await answer?.text()}`);
}

/** Clicks, and looks at the request that follows. */
export async function acted(page, object, click) {
  const [request] = await Promise.all([page.waitForRequest(writes), click()]);
  await pinned(request, object);
}

/** Presses Undo as soon as it is offered anew: an offer stays for seconds, and machines can be slow. */
export const takeBack = (page) => page.evaluate((longest) => new Promise((done, fail) => {
  const offers = () => [...document.querySelectorAll(".toast button")].filter((button) => button.textContent === "Undo");
  const old = new Set(offers());
  const look = new MutationObserver(() => {
    const fresh = offers().find((button) => !old.has(button));
    if (!fresh) return;
    look.disconnect();
    fresh.click();
    done();
  });
  look.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => fail(new Error("nothing is offered to take it back")), longest);
}), patience);

/** Clicks, and takes it back as soon as that is offered. */
export async function undone(page, object, click) {
  const sent = [];
  const note = (request) => { if (writes(request)) sent.push(request); };
  page.on("request", note);
  await Promise.all([click(), takeBack(page)]);
  for (const end = Date.now() + patience; sent.length < 2 && Date.now() < end;) await page.evaluate(() => new Promise(requestAnimationFrame));
  right(sent.length === 2, `what was done and taken back are ${sent.length} requests`);
  page.off("request", note);
  for (const request of sent) await pinned(request, object);
}

/** What can be taken back is done at once. */
const atOnce = ["Start", "Stop", "Suspend", "Resume", "Pause", "Cordon", "Uncordon"];

/** How long a button may be there and not take the pointer, in milliseconds: then it was replaced meanwhile, and is looked for again. */
const moment = 3_000;

/**
 * Points at a button until it says which command does the same, and presses it. It returns false if the button was replaced meanwhile, as by
 * that of the next state: a pointer that rests where a button appears does not point at it until it moves.
 */
async function pointAndPress(page, button) {
  try {
    await button.hover({ timeout: moment });
    await page.locator(".samepop code").first().waitFor({ timeout: moment });
    await button.click({ timeout: moment });
    return true;
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
    return false;
  }
}

/**
 * Presses an action of the page of an object: its button, or where it has none what the menu beside them has. An action is offered once the
 * page knows that it is possible, so that it is looked for again.
 */
export async function press(page, name) {
  const acts = page.locator(".acts");
  const menu = acts.getByRole("button", { name: /^More actions of / });
  const item = page.getByRole("menuitem", { name: new RegExp(`^${name}( Del)?$`) });
  for (const end = Date.now() + patience; Date.now() < end;) {
    await menu.waitFor();
    if ((await acts.getByRole("button", { name, exact: true }).count()) > 0) {
      await page.mouse.move(0, 0);
      if (await pointAndPress(page, ready(acts, name))) return;
      continue;
    }
    await menu.click();
    await page.locator(".menucmd .mono").first().waitFor();
    if ((await item.count()) > 0) {
      await item.click();
      return;
    }
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
  }
  throw new Error(`${name} is not offered on ${page.url()}`);
}

/** Presses a button of a row of a list, which is there while the row has the pointer. */
export async function pressInRow(page, row, name) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    await page.mouse.move(0, 0);
    await row.locator("td").first().hover();
    if (await pointAndPress(page, ready(row, name))) return;
  }
  throw new Error(`${name} is not offered in the row on ${page.url()}`);
}

/** Opens the dialog of an action where it has one, and returns what does it. */
export async function ask(page, name) {
  if (atOnce.includes(name)) return () => press(page, name);
  await press(page, name);
  const dialog = page.getByRole("dialog");
  await dialog.locator("code").first().waitFor(); // the command that does the same
  return () => ready(dialog, name).click();
}

/** Presses an action of the page of an object, and confirms it where it is asked for. */
export async function action(page, object, name) {
  await acted(page, object, await ask(page, name));
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** Holds everything that can be done on a page to be disabled with a reason: the buttons, and what the menu beside them has. */
export async function nothingPossible(page, reason) {
  const look = async (of) => {
    const [name, off, why] = [await of.innerText(), await of.getAttribute("aria-disabled"), await of.getAttribute("title")];
    right(off === "true" && reason.test(why ?? ""), `${name} has aria-disabled=${off} and the reason ${why}, want ${reason}`);
  };
  for (const button of await page.locator(".acts button:visible:not([aria-haspopup])").all()) await look(button);
  await page.locator(".acts button[aria-haspopup=menu]").click();
  await page.getByRole("menuitem").first().waitFor();
  for (const item of await page.getByRole("menuitem").all()) await look(item);
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
}
