// Takes a picture of every page in both themes: node gallery.mjs CHROMIUM URL NAMESPACE FOLDER. What is another one each time (ages, times,
// UIDs) is made the same first. Prints a fingerprint of the fonts and the browser, by which pictures can be compared at all.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { end, reader, start, wrong } from "./browser.mjs";
import { enter, open, settled, theme } from "./page.mjs";
import { lists } from "./pages.mjs";

const [executablePath, url, n, folder] = process.argv.slice(2);
const browser = await start(executablePath);

const pages = [
  // Of events those of the picture's namespace: the API server, too, tells of what it does.
  "/", ...lists.map((kind) => (kind === "events" ? `/events?ns=${n}` : `/${kind}`)), "/nodes?open=worker-08", `/virtualmachines?open=${n}/runner-01`, "/nodes/gpu-05", "/nodepools/gpu", `/podsets/${n}/train`,
  `/podsets/${n}/train?tab=related`, `/podsets/${n}/train?tab=events`, `/podsets/${n}/train?tab=yaml`, `/deployments/${n}/shop`, `/services/${n}/shop`,
  `/virtualmachines/${n}/runner-01`, `/virtualmachines/${n}/runner-06`, "/clusters/staging", "/clusters/staging?tab=nodes", "/kubeconfigs/viewer", `/podbuggertools/${n}/shell`, `/namespaces/${n}`,
  `/create/podsets?ns=${n}`, "/create/nodepools", "/nothing",
];

/** Requests that have no answer yet, but for those that never end. */
function watched(page) {
  const pending = new Set();
  const ends = (request) => !/\/v1\/watch|follow=true/.test(request.url());
  page.on("request", (request) => { if (ends(request)) pending.add(request); });
  for (const over of ["requestfinished", "requestfailed"]) page.on(over, (request) => pending.delete(request));
  return pending;
}

/** Waits until nothing is asked for any more, and what came is drawn. */
async function quiet(page, pending) {
  await settled(page);
  for (let calm = 0; calm < 3;) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    calm = pending.size === 0 ? calm + 1 : 0;
  }
}

/** Makes the same what is another one each time. */
const alike = (page) => page.evaluate(() => {
  const same = (text) => text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "00000000-0000-0000-0000-000000000000")
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-11-25T10:42:00Z")
    // A time of yesterday has its date, as many have after midnight.
    .replace(/\b((Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec) \d{1,2}|\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)),? (?=\d{1,2}:\d\d)/g, "").replace(/\b\d{1,2}:\d\d(:\d\d)?\b/g, "10:42")
    .replace(/^\d+[smhd](\d+[smh])?$/, "1h").replace(/\b\d+ (s|min|m|h)\b/g, "1 $1").replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8090");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const now = same(node.data);
    if (now !== node.data) node.data = now;
  }
  for (const bar of document.querySelectorAll(".deadline")) bar.style.visibility = "hidden";
  for (const line of document.querySelectorAll(".cm-line")) if (/resourceVersion|generation|uid/i.test(line.textContent)) line.style.visibility = "hidden";
});

/** Takes a picture as soon as it is the same twice: a page may have nothing to ask for because its router has not yet shown it. */
async function still(page, pending, path) {
  let last = Buffer.alloc(0);
  for (let turn = 0; turn < 20; turn++) {
    await quiet(page, pending);
    await alike(page);
    const now = await page.screenshot({ animations: "disabled" });
    if (now.equals(last)) return writeFileSync(path, now);
    last = now;
  }
  throw new Error(`${path} is another picture each time`);
}

/** How this machine draws letters: their widths, and their pixels. */
const fingerprint = (page) => page.evaluate(async () => {
  const canvas = new OffscreenCanvas(900, 200);
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const widths = ["--sans", "--mono"].flatMap((family, row) => [13, 20].map((size, column) => {
    pen.font = `${size}px ${style.getPropertyValue(family)}`;
    const text = "Nodes 0123456789 kubectl ÄßÉ 节点池 ✕✓−";
    pen.fillText(text, 4, 30 + 90 * row + 40 * column);
    return pen.measureText(text).width;
  }));
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...pen.getImageData(0, 0, 900, 200).data, ...new TextEncoder().encode(widths.join())]));
  return [...new Uint8Array(digest)].slice(0, 8).map((byte) => byte.toString(16).padStart(2, "0")).join("");
});

try {
  const context = await reader(browser, new URL(url).origin, { timezoneId: "UTC" });
  const page = await context.newPage();
  const pending = watched(page);
  await enter(page, url);
  console.log(`fingerprint: chromium-${browser.version().split(".")[0]}-${await fingerprint(page)}`);
  for (const path of pages) {
    await open(page, path);
    for (const look of ["light", "dark"]) {
      await theme(page, look);
      const name = path === "/" ? "overview" : path.slice(1).replaceAll(`${n}/`, "").replace(/\W+/g, "-");
      await still(page, pending, join(folder, `${name}-${look}.png`));
    }
  }
} catch (error) {
  wrong.push(String(error.stack ?? error));
}
await end(browser);
