// Visits the console as somebody who has rights in one namespace and nowhere else.
import { look, reader } from "./browser.mjs";
import { nothingPossible, open, right, settled, signIn } from "./page.mjs";
import { create } from "./create.mjs";
import { clash, fromTheRow, hold, power, scale } from "./change.mjs";
import { deleteNamespaced } from "./delete.mjs";

/** The link of the rail that leads to the nodes: its name also counts them. */
const toNodes = "a[href='/nodes'], a[href^='/nodes?']";
const namespaced = ["podsets", "deployments", "virtualmachines", "podbuggertools"];

/** Somebody who may look at one namespace gets a whole console of it, and is told what they may not do. */
export async function viewer({ browser, origin, cluster, tokens, keep }) {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await signIn(page, `${origin}/podsets/showcase/train`, tokens.viewer);
  const rail = page.getByRole("navigation", { name: "Main" });
  await rail.getByRole("link", { name: "Virtual machines" }).waitFor();
  await rail.locator(toNodes).waitFor({ state: "detached" });
  await look(page, "podset of a limited user");

  // Everything is there and disabled, with its reason beside it, and sends nothing.
  let sent = 0;
  page.on("request", (request) => { if (request.method() !== "GET") sent++; });
  await page.locator(".acts button[aria-disabled=true]", { hasText: "Restart pods" }).waitFor();
  await nothingPossible(page, /^You may not (patch|delete) Pod sets here\.$/);
  for (const button of await page.locator(".acts button:visible:not([aria-haspopup])").all()) await button.click({ force: true });
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("Delete");
  await page.getByText("You may not scale Pod sets here.").first().waitFor();
  right((await page.getByRole("dialog").count()) === 0 && sent === 0, `buttons that are disabled have sent ${sent} requests`);

  await open(page, "/podsets");
  await page.getByRole("checkbox", { name: "Select all of the list" }).check();
  const scale = page.getByRole("region", { name: "What is selected" }).locator("button[aria-disabled=true]", { hasText: /^Scale \d/ });
  right((await scale.getAttribute("title")) === "You may not scale Pod sets here.", "several can be scaled by somebody who may not, or without a reason");

  for (const path of ["/", "/podsets", "/virtualmachines", "/pods", "/create/podsets?ns=showcase"]) {
    await open(page, path);
    await look(page, `${path} of a limited user`);
    await keep(page, `limited${path}`);
  }
  await apart(page, cluster);
  await granted(page, rail, cluster, keep);
  await context.close();
}

/** A namespace that they may not get, and some of whose objects they may list, can be chosen beside the one that they may. */
async function apart(page, cluster) {
  const name = "console-visit-apart";
  await cluster.create("clusterroles", undefined, { metadata: { name }, rules: [{ apiGroups: ["apps.jicki.cn"], resources: ["podsets"], verbs: ["get", "list", "watch"] }] });
  await cluster.create("rolebindings", "default", {
    metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name }, subjects: [{ kind: "ServiceAccount", namespace: "showcase", name: "viewer" }],
  });
  const options = page.getByLabel("Namespace").getByRole("option");
  let names = [];
  for (let tries = 0; tries < 30 && !names.includes("default"); tries++) { // rights are believed for some seconds
    await Promise.all([page.waitForResponse((response) => new URL(response.url()).pathname === "/v1/me"), page.reload()]);
    await settled(page);
    names = await options.allTextContents();
  }
  right(names.includes("default") && names.includes("showcase"), `the namespaces to choose are ${names}`);
  await cluster.delete("rolebindings", "default", name);
  await cluster.delete("clusterroles", undefined, name);
}

/** The page of a kind that may not be listed says so, and opens by itself when somebody grants it. */
async function granted(page, rail, cluster, keep) {
  await open(page, "/nodes");
  await page.getByText("You may not see Nodes").waitFor();
  await page.locator(".blank [lang=en]", { hasText: "nodes" }).first().waitFor(); // the server's words
  await look(page, "nodes, which are forbidden");
  await keep(page, "limited/nodes");
  const name = "console-visit-nodes";
  await cluster.create("clusterroles", undefined, { metadata: { name }, rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] }] });
  await cluster.create("clusterrolebindings", undefined, {
    metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name }, subjects: [{ kind: "ServiceAccount", namespace: "showcase", name: "viewer" }],
  });
  const row = page.locator("tr[data-key]", { hasText: "worker-01" });
  await row.waitFor();
  await rail.locator(toNodes).waitFor();
  // Nodes are not called empty by those who see the pods of one namespace only.
  await page.locator(".maplegend").waitFor();
  right((await page.getByText("requested: the scarcer of CPU and memory").count()) === 0, "the map measures nodes by the pods of one namespace");
  await row.locator("td.mark").click();
  const drawer = page.locator("aside.drawer");
  await drawer.getByRole("heading", { name: "Facts" }).waitFor();
  const yaml = await page.context().newPage();
  await yaml.goto(new URL("/nodes/worker-01?tab=yaml", page.url()).href);
  await yaml.getByText("kubernetes.io/hostname").first().waitFor();
  // The right is taken away while the list and an object of it are open: both say so, and nothing of the list stays.
  await cluster.delete("clusterrolebindings", undefined, name);
  await page.getByText("You may not see Nodes").waitFor();
  await row.waitFor({ state: "detached" });
  await drawer.getByText("you may not see this object any more").waitFor();
  await yaml.getByText("you may not see this object any more").waitFor();
  await yaml.close();
  await open(page, "/podsets");
  await cluster.delete("clusterroles", undefined, name);
  await rail.locator(toNodes).waitFor({ state: "detached" });
}

/** Somebody who may do everything in one namespace does everything there. */
export async function editor({ browser, origin, cluster, tokens }) {
  const context = await reader(browser, origin);
  const page = await context.newPage();
  await signIn(page, `${origin}/podsets?ns=showcase`, tokens.editor);
  await create(page, cluster, "showcase", namespaced);
  await scale(page, cluster, "showcase");
  await hold(page, cluster, "showcase", namespaced);
  await power(page, cluster, "showcase");
  await fromTheRow(page, cluster, "showcase");
  await clash(page, cluster, "showcase");
  await deleteNamespaced(page, cluster, "showcase");
  await context.close();
}
