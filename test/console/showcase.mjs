// Visits the console on the showcase of "make run": node showcase.mjs CHROMIUM SCENE. SCENE is JSON: the URLs of the manager's console and
// of a "windlass ui", which outlives the API server; the API server through "kubectl proxy"; tokens; and what it takes to stop the server.
// Waits for states and never for times; what is wrong is printed, and the exit code is 1 then.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { end, reader, start, wrong } from "./browser.mjs";
import { approve, cordon, drain, hold, pools, rehearse } from "./change.mjs";
import { Cluster } from "./cluster.mjs";
import { create } from "./create.mjs";
import { deleteOthers } from "./delete.mjs";
import { everyPage, inChinese } from "./everywhere.mjs";
import { another, drainsToTheEnd, expired, expiredUnseen, withoutServer } from "./interrupted.mjs";
import { byKeyboard, taskByKeyboard } from "./keyboard.mjs";
import { editor, viewer } from "./limited.mjs";
import { missing } from "./missing.mjs";
import { enter, open, settled, theme } from "./page.mjs";
import { pictures } from "./pages.mjs";

const [executablePath, told] = process.argv.slice(2);
const scene = JSON.parse(told);
const { origin } = new URL(scene.URL);
const cluster = new Cluster(scene.API);
// Where pictures go, if they are wanted: those of README, and in the folder "all" those of every page, for looking at.
const album = process.env.WINDLASS_PICTURES;
const keep = (page, name) => (album ? page.screenshot({ path: join(album, "all", `${name.replace(/\W+/g, "-")}.png`) }) : undefined);
const browser = await start(executablePath);
const began = performance.now();
const lap = (what) => console.log(`${((performance.now() - began) / 1000).toFixed(1)} s: ${what}`);

async function takePictures(page) {
  mkdirSync(join(album, "all"), { recursive: true });
  for (const [name, path] of Object.entries(pictures)) {
    await open(page, path);
    // The next step is asked for after the page is there.
    if ((await page.locator("main .reasonbox").count()) > 0) await page.locator("main .reasonbox .sub").first().waitFor();
    await page.locator("main .plotroom").first().waitFor({ state: "detached" });
    for (const look of ["light", "dark"]) {
      await theme(page, look);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))); // charts follow a frame later
      await page.screenshot({ path: join(album, `${name}-${look}.png`) });
    }
    await theme(page, "light");
  }
  await pictureOfRun(page);
}

/** A cluster whose tool runs, with its stages and its log. It is there for the picture alone: it is a control plane of its own on this machine. */
async function pictureOfRun(page) {
  const name = "east";
  const inline = `cluster_name: ${name}
nodes:
- {address: 10.40.5.1, hostname_override: control-01, user: windlass, role: [controlplane, etcd]}
- {address: 10.40.5.2, hostname_override: worker-01, user: windlass, role: [worker]}
- {address: 10.40.5.3, hostname_override: worker-02, user: windlass, role: [worker]}
`;
  await cluster.create("clusters", undefined, { metadata: { name }, spec: { provisioner: "devcluster", config: { inline } } });
  try {
    await open(page, `/clusters/${name}`);
    await page.locator("main .timeline li").nth(3).waitFor();
    await page.locator("main .logbox .all > *").nth(4).waitFor();
    // The stages are read every five seconds, and the log follows: a picture has both of one moment.
    await page.waitForFunction(() => {
      const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
      const said = texts("main .logbox .all > *").filter((line) => /\d\.\ds /.test(line)); // at its end the tool says more than stages
      return said.at(-1)?.includes(texts("main .timeline li .what").at(-1));
    });
    await page.screenshot({ path: join(album, "operation-light.png") });
    await cluster.until("clusters", undefined, name, "its tool has run", ({ status }) => status?.lastOperation?.endTime !== undefined);
  } finally {
    await cluster.delete("clusters", undefined, name);
    await cluster.gone("clusters", undefined, name);
  }
}

/** An administrator makes, changes and deletes what is in no namespace. */
async function administrator(page) {
  const plurals = ["nodepools", "clusters", "kubeconfigs"];
  await create(page, cluster, undefined, plurals);
  await rehearse(page, cluster);
  await approve(page, cluster);
  await hold(page, cluster, undefined, plurals);
  await cordon(page, cluster);
  await drain(page, cluster);
  await pools(page, cluster);
  await deleteOthers(page, cluster);
}

const guest = { browser, origin, scene, cluster, tokens: scene.Tokens, keep, lap };
/** What is looked at, if not everything: WINDLASS_VISITS is a regular expression. */
const wanted = new RegExp(process.env.WINDLASS_VISITS ?? "");
const visit = async (what, step) => {
  if (!wanted.test(what)) return;
  await step().catch((error) => wrong.push(`${what}: ${error.stack ?? error}`));
  lap(what);
};

const context = await reader(browser, origin);
const page = await context.newPage();
await enter(page, scene.URL);
await visit("a second load", async () => {
  await page.reload();
  await settled(page);
  lap(`a second load shows its heading after ${Math.round(await page.evaluate(() => performance.now()))} ms`);
  await theme(page, "light");
});
// Those who only look go first, and at the same time those whose waits are for the server.
await Promise.all([visit("every page", () => everyPage(page, keep)), visit("a limited user", () => viewer(guest)), visit("an expired token", async () => { await expired(guest); await expiredUnseen(guest); await another(guest); }), visit("parts that do not arrive", () => missing(guest))]);
await visit("in Chinese", () => inChinese(page, keep));
if (album) await visit("pictures", () => takePictures(page)); // by now there are samples of what machines use
const other = await context.newPage();
await other.goto(origin);
await settled(other);
await Promise.all([
  visit("by keyboard", async () => { await byKeyboard(page); await taskByKeyboard(page, cluster); }), visit("an administrator", () => administrator(other)), visit("a user of one namespace", () => editor(guest)),
]);
await visit("a drain to its end", () => drainsToTheEnd(guest));
await visit("without the API server", () => withoutServer(guest));
await end(browser);
