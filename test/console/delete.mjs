// Deletes objects by clicks alone: one of every kind, and one that is replaced between the click and the request.
import { nameOf } from "./create.mjs";
import { acted, open, press, right } from "./page.mjs";

/** Deletes an object from its page. What loses something wants a tick first. */
async function remove(page, cluster, plural, namespace, name, loses) {
  const object = await cluster.get(plural, namespace, name);
  await open(page, `/${plural}/${namespace ? `${namespace}/` : ""}${name}`);
  await press(page, "Delete");
  const dialog = page.getByRole("dialog");
  await dialog.locator("code.c", { hasText: `kubectl delete` }).waitFor();
  await dialog.locator("button:focus", { hasText: "Cancel" }).waitFor(); // it gets the focus once it is drawn
  const button = dialog.getByRole("button", { name: `Delete ${name}`, exact: true });
  if (loses) {
    await button.click({ force: true }); // disabled without the tick
    right((await cluster.get(plural, namespace, name))?.metadata.deletionTimestamp === undefined, `${plural} are deleted without the tick`);
    await dialog.getByRole("checkbox").check();
  }
  await acted(page, object, () => button.click());
  await cluster.until(plural, namespace, name, "is deleted", (now) => now === undefined || now.metadata.uid !== object.metadata.uid || now.metadata.deletionTimestamp !== undefined);
  return cluster.until(plural, namespace, name, "is gone", (now) => now?.metadata.uid !== object.metadata.uid);
}

/** Deletes what create.mjs has made in a namespace, and a pod, which its owner makes anew. */
export async function deleteNamespaced(page, cluster, namespace) {
  const [pod] = await cluster.list("pods", namespace, "podSet_cr=made");
  await remove(page, cluster, "pods", namespace, pod.metadata.name);
  await remove(page, cluster, "podsets", namespace, "made", true);
  await remove(page, cluster, "virtualmachines", namespace, "made", true);
  await remove(page, cluster, "podbuggertools", namespace, "made");
  await replaced(page, cluster, namespace);
  await remove(page, cluster, "services", namespace, nameOf("services"));
  await remove(page, cluster, "deployments", namespace, nameOf("deployments"), true);
}

/** The same for what is in no namespace, a node, and a namespace. */
export async function deleteOthers(page, cluster) {
  await remove(page, cluster, "kubeconfigs", undefined, "made");
  await remove(page, cluster, "clusters", undefined, "made", true);
  await remove(page, cluster, "nodepools", undefined, "made");
  await cluster.create("nodes", undefined, { metadata: { name: "made" } });
  await remove(page, cluster, "nodes", undefined, "made", true);
  await cluster.create("namespaces", undefined, { metadata: { name: "made" } });
  await remove(page, cluster, "namespaces", undefined, "made", true);
}

/** Another object takes the name after the click and before the API has the request: it stays, and the page says why. */
async function replaced(page, cluster, namespace) {
  const name = nameOf("services");
  const before = await cluster.get("services", namespace, name);
  await open(page, `/services/${namespace}/${name}`);
  await page.route("**/v1/services/**", async (route) => {
    if (route.request().method() === "DELETE") {
      await cluster.delete("services", namespace, name);
      await cluster.gone("services", namespace, name);
      await cluster.create("services", namespace, { metadata: { name }, spec: { selector: before.spec.selector, ports: [{ port: 8080 }] } });
    }
    await route.continue();
  });
  await press(page, "Delete");
  await page.getByRole("dialog").getByRole("button", { name: `Delete ${name}`, exact: true }).click();
  await page.locator(".toast", { hasText: "Not done" }).waitFor();
  await page.unroute("**/v1/services/**");
  const after = await cluster.get("services", namespace, name);
  right(after !== undefined && after.metadata.uid !== before.metadata.uid && after.metadata.deletionTimestamp === undefined, "an object that has replaced the one that was to be deleted is deleted");
  // The toast can be used while the dialog is still open, as it is where the page has not heard of the deletion between two others.
  const toast = page.locator(".toast", { hasText: "Not done" });
  await toast.getByRole("button", { name: "Reason" }).click();
  await page.getByRole("dialog", { name: "Reason" }).getByText("Replaced", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Reason" }).waitFor({ state: "detached" });
  await toast.getByRole("button", { name: "Dismiss" }).click(); // others leave by themselves
  await toast.waitFor({ state: "detached" });
  await open(page, "/services");
}
