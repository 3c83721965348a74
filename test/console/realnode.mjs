// Reads logs of containers on a real node and types into one: node realnode.mjs CHROMIUM SCENE. Waits for states and never for times; what
// is wrong is printed, and the exit code is 1 then.
import { end, look, reader, start, wrong } from "./browser.mjs";
import { enter, open, ready, right } from "./page.mjs";

const [executablePath, told] = process.argv.slice(2);
const { UI: url } = JSON.parse(told);
const browser = await start(executablePath);

async function logs(page, pods) {
  // Of one pod, as they grow.
  const log = page.getByRole("log");
  await open(page, `/pods/default/${pods[0]}?tab=logs`);
  await log.getByText(/sings verse \d+/).first().waitFor();
  const last = async () => Number(/verse (\d+)$/.exec((await log.innerText()).trimEnd())?.[1]);
  const before = await last();
  await page.waitForFunction((verse) => Number(/verse (\d+)$/.exec(document.querySelector("[role=log]").innerText.trimEnd())?.[1]) > verse, before);
  await page.getByLabel("Find").fill("sings verse 2");
  await page.getByText(/^1 of \d+$/).waitFor();
  await look(page, "log of a pod");
  await page.getByRole("button", { name: "Follow", exact: true }).click();
  await page.locator("button[aria-pressed=false]", { hasText: "Follow" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download what is shown" }).click()]);
  right(file.suggestedFilename() === `${pods[0]}-main.log`, `the log is downloaded as ${file.suggestedFilename()}`);

  // Of both pods of the Deployment, merged.
  await open(page, "/deployments/default/choir?tab=logs");
  for (const pod of pods) await log.getByText(`${pod} sings verse`).first().waitFor();
}

async function terminal(page, pod) {
  await open(page, `/pods/default/${pod}?tab=terminal`);
  await page.getByText(`kubectl exec -it ${pod} -n default -c main -- sh`).waitFor();
  await ready(page, "Open").click();
  const screen = page.locator(".terminal.xterm");
  const says = (text) => screen.getByText(text).first().waitFor();
  await says("$");
  await page.keyboard.type("echo well met");
  await page.keyboard.press("Enter");
  await screen.locator(":text-is('well met')").first().waitFor();
  // Another language is no other shell.
  await page.getByRole("button", { name: "中文" }).click();
  await page.locator("html[lang=zh-Hans]").waitFor();
  await page.getByRole("button", { name: "English" }).click();
  await page.locator("html[lang=en]").waitFor();
  await screen.getByRole("textbox").focus();
  await page.keyboard.type("echo once more");
  await page.keyboard.press("Enter");
  await screen.locator(":text-is('once more')").first().waitFor();
  right((await screen.locator(":text-is('well met')").count()) > 0, "another language opens another shell");
  await page.keyboard.type("nothing");
  await page.keyboard.press("Enter");
  await says("sh: nothing: not found");
  await look(page, "terminal");
  // The keys go to the program, and Shift Tab leaves it.
  await page.keyboard.press("Shift+Tab");
  right(await screen.evaluate((box) => !box.contains(document.activeElement)), "Shift Tab does not lead out of the terminal");
  await screen.getByRole("textbox").focus();
  await page.keyboard.type("exit 3");
  await page.keyboard.press("Enter");
  await page.getByText("It ended with exit code 3.").waitFor();
  await ready(page, "Open again").click();
  await says("$");
  await page.keyboard.type("end");
  await page.keyboard.press("Enter");

  // The container starts again, and its log of before is there.
  await page.getByText(/^It ended|^The connection ended/).first().waitFor();
  await open(page, `/pods/default/${pod}?tab=logs`);
  await page.getByRole("button", { name: "Before the restart" }).click();
  await page.getByRole("log").getByText(`${pod} has ended`).waitFor();
}

/** The pod goes while its log and its shell are open: what they have printed stays to be read, and no other shell is opened. */
async function deleted(page, pod) {
  await open(page, `/pods/default/${pod}?tab=terminal`);
  await ready(page, "Open").click();
  const screen = page.locator(".terminal.xterm");
  await screen.getByText("$").first().waitFor();
  await page.keyboard.type("echo last words");
  await page.keyboard.press("Enter");
  await screen.locator(":text-is('last words')").first().waitFor();
  const reading = await page.context().newPage();
  await reading.goto(`${new URL(page.url()).origin}/pods/default/${pod}?tab=logs`);
  const log = reading.getByRole("log");
  await log.getByText(/sings verse \d+/).first().waitFor();
  await page.evaluate((at) => fetch(at, { method: "DELETE" }), `/v1/pods/default/${pod}`);
  for (const each of [page, reading]) await each.getByText(/^This object was deleted/).waitFor();
  right((await log.getByText(/sings verse \d+/).count()) > 0, "the log of a pod that is deleted is wiped");
  await page.getByText(/^It ended|^The connection ended/).first().waitFor();
  right((await screen.locator(":text-is('last words')").count()) > 0, "what a shell has printed is lost with its pod");
  await reading.close();
}

try {
  const context = await reader(browser, new URL(url).origin, { acceptDownloads: true });
  const page = await context.newPage();
  await enter(page, url);
  await open(page, "/pods?ns=default");
  await page.locator("tr[data-key^='default/choir-']").nth(1).waitFor();
  const pods = await page.locator("tr[data-key^='default/choir-']").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-key").replace("default/", "")));
  await logs(page, pods);
  await terminal(page, pods[1]);
  await deleted(page, pods[0]);
} catch (error) {
  wrong.push(String(error.stack ?? error));
}
await end(browser);
