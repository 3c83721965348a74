// Parts of the console that do not arrive, as after an upgrade of the server while the page is open: each place says so, everything around it
// goes on, and the page is loaded anew once there is something to load.
import { reader } from "./browser.mjs";
import { enter, open, right, settled } from "./page.mjs";

const sentence = "This part of the console did not load.";
const parts = /\/assets\/(Logs|Palette|CreatePage|DeedMenu|zh)-[^/]*\.js$/;

export async function missing({ browser, origin, scene }) {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await page.route(parts, (route) => route.fulfill({ status: 404, body: "gone" }));
  await enter(page, scene.URL);
  const failure = page.locator("main [role=alert]", { hasText: sentence });
  const toast = page.locator(".toast", { hasText: sentence });
  const dismissed = async () => {
    await toast.getByRole("button", { name: "Dismiss" }).click();
    await toast.waitFor({ state: "detached" });
  };

  // A tab: the page around it stays, and its other tabs work.
  await open(page, "/virtualmachines/showcase/api?tab=logs");
  await failure.waitFor();
  await page.locator(".tabs").getByRole("link", { name: "Summary" }).click();
  await failure.waitFor({ state: "detached" });
  await page.locator("main .kv").first().waitFor();

  // What opens over a page: the page stays as it is, every time.
  for (const press of [() => page.keyboard.press("Control+k"), () => page.locator(".acts button[aria-haspopup=menu]").click(), () => page.keyboard.press("Control+k")]) {
    await press();
    await toast.waitFor();
    right(await page.locator("main .kv").first().isVisible(), "what did not open has taken the page away");
    await dismissed();
  }

  // The other language.
  await page.getByRole("button", { name: "中文" }).click();
  await toast.waitFor();
  right((await page.evaluate(() => document.documentElement.lang)) === "en", "a page without Chinese says that it is Chinese");
  await dismissed();

  // A page, without a network: it is not loaded anew, because nothing would come.
  await open(page, "/virtualmachines?ns=showcase");
  await page.evaluate(() => { window.stays = true; });
  await page.getByRole("link", { name: "New machine" }).click();
  await failure.waitFor();
  await context.setOffline(true);
  await failure.getByRole("button", { name: "Reload" }).click();
  await failure.getByText("The server does not answer.").waitFor();
  right(await page.evaluate(() => window.stays === true), "the page was loaded anew without a network");

  // The server answers again and has everything: the page is loaded anew, and is where it was.
  await context.setOffline(false);
  await page.unroute(parts);
  await failure.getByRole("button", { name: "Reload" }).click();
  await page.getByLabel("名称", { exact: true }).waitFor(); // the language that they have chosen, which is there now as well
  await settled(page);
  right(await page.evaluate(() => window.stays === undefined), "the page was not loaded anew");
  await context.close();
}
