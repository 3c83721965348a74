// Visits the site as its readers do: node visit.mjs ORIGIN CHROMIUM [FOLDER FOR PICTURES]
import { join } from "node:path";
import { end, look, reader, start, wrong } from "../../test/console/browser.mjs";

const [origin, executablePath, pictures] = process.argv.slice(2);
const browser = await start(executablePath);
const pages = ["index", "guide/quickstart", "reference/kubeconfig", "zh/guide/tour"];
if (pictures) pages.push("guide/nodepool", "guide/capacity", "guide/troubleshooting", "reference/virtualmachine", "reference/reasons", "comparison", "zh/index");
const readers = {
  desktop: { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  ...(pictures ? { evening: { viewport: { width: 1440, height: 900 }, colorScheme: "dark" } } : {}),
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
};

for (const [name, options] of Object.entries(readers)) {
  const context = await reader(browser, origin, options);
  const page = await context.newPage();
  for (const path of pages) {
    await page.goto(`${origin}/${path}.html`);
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (wide > room) wrong.push(`${name}, ${path}: the page is ${wide} wide and the window ${room}`);
    await look(page, `${name}, ${path}`);
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${path.replaceAll("/", "-")}.png`) });
  }
  await context.close();
}

// Searches with the keyboard alone, and expects a page whose name begins so among the first results.
async function search(page, asked, leads) {
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill(asked);
  const first = page.locator("dialog li a").first();
  await page.locator(`dialog li a[href*="${leads}"]`).first().waitFor();
  if (pictures) await page.screenshot({ path: join(pictures, `search-${asked}.png`) });
  const to = new URL(await first.getAttribute("href"), origin);
  await page.keyboard.press("Enter");
  await page.waitForURL(to.href);
}

const context = await reader(browser, origin, readers.desktop);
const page = await context.newPage();
await page.goto(`${origin}/guide/podset.html`);
await search(page, "safety brake", "/guide/nodepool.html");
await search(page, "DiskLost", "/guide/virtualmachine.html");
await page.getByRole("link", { name: "中文" }).click();
await page.waitForURL(/\/zh\/(index.html)?$/); // Go serves index.html as its folder
await search(page, "角色标签", "/zh/guide/");
await search(page, "污点", "/zh/");
await page.keyboard.press("/");
await page.getByRole("searchbox").fill("qwertz");
await page.getByRole("status").getByText("没有找到").waitFor();

// A reader on a phone finds the other pages behind a button.
const phone = await reader(browser, origin, readers.phone);
const small = await phone.newPage();
await small.goto(`${origin}/guide/quickstart.html`);
await small.getByText("All pages").click();
if (pictures) await small.screenshot({ path: join(pictures, "phone-menu.png") });
await small.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "A tour" }).click();
await small.waitForURL(`${origin}/guide/tour.html`);

await end(browser);
