// Opens every page: in both themes, at all widths, and in Chinese.
import { look, wrong } from "./browser.mjs";
import { open, theme } from "./page.mjs";
import { pages } from "./pages.mjs";

const wide = { width: 1440, height: 900 };
/** 720 px is what 1440 px are at 200 %, and 320 px what 1280 px are at 400 %. */
const widths = [720, 390, 320];

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

/** Behind the menu of a narrow window are the counts, who has signed in, and the way out. */
async function menu(page) {
  await open(page, "/");
  for (const width of [1279, 720, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const button = page.getByRole("button", { name: "Menu", exact: true });
    await button.click();
    for (const part of [".rail .total", ".rail .foot .user"]) await page.locator(part).first().waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await button.click();
    await page.locator(".rail .foot").waitFor({ state: "hidden" });
  }
}

export async function everyPage(page, keep) {
  for (const path of pages) {
    await page.setViewportSize(wide);
    await open(page, path);
    await look(page, path);
    await keep(page, `en${path}`);
    await theme(page, "dark");
    await look(page, `${path}, dark`, { type: "rule", values: ["color-contrast"] }); // all that a theme changes
    await theme(page, "light");
    for (const width of widths) await narrow(page, path, width);
  }
  await menu(page);
  await page.setViewportSize(wide);
}

export async function inChinese(page, keep) {
  await page.getByRole("button", { name: "中文" }).click();
  await page.locator("html[lang=zh-Hans]").waitFor();
  for (const path of pages) {
    await page.setViewportSize(wide);
    await open(page, path);
    await english(page, path);
    await keep(page, `zh${path}`);
    await narrow(page, `${path}, Chinese`, 390);
  }
  await page.setViewportSize(wide);
  await page.getByRole("button", { name: "EN" }).click();
  await page.locator("html[lang=en]").waitFor();
}
