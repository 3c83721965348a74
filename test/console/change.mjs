// Changes what create.mjs has made, by clicks alone, and asks the API server what came of it: who owns the field, and what the controllers do.
import { owners } from "./cluster.mjs";
import { nameOf } from "./create.mjs";
import { acted, action, ask, open, press, pressInRow, ready, retype, right, undone } from "./page.mjs";

/** Holds a field to be owned by a button, or with "none" by no button. */
const owns = (object, button, ...field) => {
  const all = owners(object, ...field);
  const ours = button === "none" ? !all.some((each) => each.startsWith("windlass-console-")) : all.includes(`windlass-console-${button}`);
  right(ours, `${object.kind}: ${field.join(".")} is owned by ${all}, want ${button === "none" ? "no button" : `windlass-console-${button}`}`);
};

/** Sets the size of what has pods, with the stepper and with the keys, and takes it back. */
export async function scale(page, cluster, namespace) {
  for (const [plural, field] of [["podsets", "size"], ["deployments", "replicas"]]) {
    const name = nameOf(plural);
    await open(page, `/${plural}/${namespace}/${name}`);
    const before = await cluster.get(plural, namespace, name);
    await page.getByRole("button", { name: "One more" }).click();
    await page.locator("code.c", { hasText: `--replicas=${before.spec[field] + 1}` }).first().waitFor();
    right((await cluster.get(plural, namespace, name)).spec[field] === before.spec[field], `${plural}: the stepper sends before it is applied`);
    await acted(page, before, () => ready(page, `Apply ${before.spec[field] + 1}`).click());
    const after = await cluster.until(plural, namespace, name, "has its new size", ({ spec }) => spec[field] === before.spec[field] + 1);
    owns(after, "scale", "f:spec", `f:${field}`);
    await cluster.until(plural, namespace, name, "its pods are available", ({ status }) => status?.availableReplicas === after.spec[field]);
    await page.getByRole("button", { name: "One less" }).click();
    await undone(page, before, () => ready(page, `Apply ${before.spec[field]}`).click());
    await cluster.until(plural, namespace, name, "has the size of before the undo", ({ spec }) => spec[field] === after.spec[field]);
  }
}

/** Pauses and resumes every kind that can be, and restarts the pods of those that have any. */
export async function hold(page, cluster, namespace, plurals) {
  for (const plural of plurals) {
    const where = ["podsets", "deployments", "virtualmachines", "podbuggertools"].includes(plural) ? namespace : undefined;
    const inSpec = ["podsets", "deployments"].includes(plural);
    const field = inSpec ? ["f:spec", "f:paused"] : ["f:metadata", "f:annotations", "f:windlass.io/paused"];
    const held = (object) => (inSpec ? object.spec.paused === true : object.metadata.annotations?.["windlass.io/paused"] === "true");
    const name = nameOf(plural);
    await open(page, `/${plural}/${where ? `${where}/` : ""}${name}`);
    const object = await cluster.get(plural, where, name);
    await action(page, object, "Pause");
    owns(await cluster.until(plural, where, name, "is paused", held), "pause", ...field);
    await action(page, object, "Resume");
    await cluster.until(plural, where, name, "goes on", (now) => !held(now));
    if (!inSpec) continue;
    await action(page, object, "Restart pods");
    const template = ["f:spec", "f:template", "f:metadata", "f:annotations", "f:kubectl.kubernetes.io/restartedAt"];
    const restarted = await cluster.until(plural, where, name, "restarts its pods", ({ spec }) => spec.template.metadata?.annotations?.["kubectl.kubernetes.io/restartedAt"] !== undefined);
    owns(restarted, "restart", ...template);
    if (plural !== "deployments") continue;
    await action(page, object, "Go back");
    await cluster.until(plural, where, name, "has the template of before", ({ spec }) => spec.template.metadata?.annotations?.["kubectl.kubernetes.io/restartedAt"] === undefined);
  }
}

/** Plans a restart, and another one instead, which is taken back: the first is planned again. */
async function plan(page, cluster, namespace, machine) {
  const write = async (time) => {
    await page.getByLabel("Time of the restart").fill(time);
    return () => ready(page, "Plan the restart").click();
  };
  await acted(page, machine, await write("2099-01-31T10:00"));
  const { spec: first } = await cluster.until("virtualmachines", namespace, "made", "has a plan", ({ spec }) => spec.restartAt?.startsWith("2099-01"));
  await page.getByText(/^planned for /).waitFor(); // the page knows it too
  await undone(page, machine, await write("2099-03-31T10:00"));
  await cluster.until("virtualmachines", namespace, "made", "has the plan of before the undo", ({ spec }) => spec.restartAt === first.restartAt);
}

/** Every switch of a machine, and its size. */
export async function power(page, cluster, namespace) {
  await open(page, `/virtualmachines/${namespace}/made`);
  const becomes = (phase) => cluster.until("virtualmachines", namespace, "made", `is ${phase}`, ({ status }) => status?.phase === phase);
  const machine = await becomes("Active");
  await action(page, machine, "Suspend");
  owns(await becomes("Suspended"), "power", "f:spec", "f:runStrategy");
  await action(page, machine, "Resume");
  await becomes("Active");
  await action(page, machine, "Stop");
  await becomes("Stopped");
  await undone(page, machine, await ask(page, "Start"));
  await becomes("Stopped");
  await action(page, machine, "Start");
  await becomes("Active");
  // With the keyboard the place in the bar is not lost, though the button is: the next key is for the one that took its place.
  const [stop, start] = ["Stop", "Start"].map((name) => ready(page.locator(".acts"), name));
  await page.mouse.move(0, 0);
  await stop.focus();
  await acted(page, machine, () => page.keyboard.press("Enter"));
  await start.waitFor();
  right(await start.evaluate((button) => button === document.activeElement), "the focus is lost with the button of a page that was pressed");
  await becomes("Stopped");
  await start.focus();
  await acted(page, machine, () => page.keyboard.press("Enter"));
  await stop.waitFor();
  right(await stop.evaluate((button) => button === document.activeElement), "the focus is lost with the button of a page that was pressed again");
  await becomes("Active");
  await plan(page, cluster, namespace, machine);
  await action(page, machine, "Restart");
  const restarted = await cluster.until("virtualmachines", namespace, "made", "has restarted", ({ spec, status }) => spec.restartAt !== undefined && status.lastRestartTime >= spec.restartAt);
  owns(restarted, "power", "f:spec", "f:restartAt");
  // A choice of the panel is local until it is applied.
  await page.getByRole("group", { name: "runStrategy" }).getByRole("button", { name: "Halted" }).click();
  const now = page.getByRole("button", { name: /^Restart now/ });
  right((await now.getAttribute("aria-disabled")) === "true" && (await now.getAttribute("title")) === "Halted is chosen and not applied yet.", "Restart now can be pressed while the panel shows another order");
  await acted(page, machine, () => ready(page, "Apply Halted").click());
  await becomes("Stopped");
  await ready(page.locator(".acts"), "Start").waitFor();
  await action(page, machine, "Start");
  await becomes("Active");
  await page.getByLabel("CPU", { exact: true }).fill("3");
  await acted(page, machine, () => ready(page, "Apply the new size").click());
  owns(await cluster.until("virtualmachines", namespace, "made", "has its new size", ({ spec }) => String(spec.resource.cpu) === "3"), "resize", "f:spec", "f:resource", "f:cpu");
}

/** The buttons of a row are there under the pointer, say which command does the same, and act on the object of that row. */
export async function fromTheRow(page, cluster, namespace) {
  await open(page, `/virtualmachines?ns=${namespace}`);
  const row = page.locator(`tr[data-key='${namespace}/made']`);
  const until = (what, holds) => cluster.until("virtualmachines", namespace, "made", what, holds);
  const machine = await until("runs", ({ status }) => status?.phase === "Active");
  await acted(page, machine, () => pressInRow(page, row, "Stop made"));
  owns(await until("is stopped", ({ status }) => status?.phase === "Stopped"), "power", "f:spec", "f:runStrategy");
  // The row knows it too: the button that was pressed has given way, and nothing else was pressed meanwhile.
  await undone(page, machine, () => pressInRow(page, row, "Start made"));
  await until("is stopped again", ({ spec, status }) => spec.runStrategy === "Halted" && status?.phase === "Stopped");
  await acted(page, machine, () => pressInRow(page, row, "Start made"));
  await until("runs again", ({ status }) => status?.phase === "Active");
  // With the keyboard the place is not lost, though the button is.
  await page.mouse.move(0, 0);
  await row.focus();
  await ready(row, "Stop made").focus();
  await acted(page, machine, () => page.keyboard.press("Enter"));
  await ready(row, "Start made").waitFor();
  right(await row.evaluate((line) => line === document.activeElement), "the focus is lost with the button of a row that was pressed");
  await until("is stopped once more", ({ status }) => status?.phase === "Stopped");
  await acted(page, machine, () => pressInRow(page, row, "Start made"));
  await until("runs once more", ({ status }) => status?.phase === "Active");
}

/** Somebody else has switched the machine off: the button asks before it changes what they have set. */
export async function clash(page, cluster, namespace) {
  const machine = await cluster.patch("virtualmachines", namespace, "made", { spec: { runStrategy: "Halted" } });
  const until = (what, holds) => cluster.until("virtualmachines", namespace, "made", what, holds);
  await until("is stopped", ({ status }) => status?.phase === "Stopped");
  await open(page, `/virtualmachines/${namespace}/made`);
  const dialog = page.getByRole("dialog");
  for (const [choice, strategy] of [["Leave it", "Halted"], ["Take it over", "Always"]]) {
    await press(page, "Start");
    await dialog.getByText("spec.runStrategy").first().waitFor();
    right(await dialog.getByRole("button", { name: "Leave it" }).evaluate((button) => button === document.activeElement), "the dialog of a conflict does not begin on Leave it");
    right((await cluster.get("virtualmachines", namespace, "made")).spec.runStrategy === "Halted", "a button has overwritten what another has set");
    if (choice === "Leave it") await dialog.getByRole("button", { name: choice }).click();
    else await acted(page, machine, () => dialog.getByRole("button", { name: choice }).click());
    await dialog.waitFor({ state: "detached" });
    owns(await until(`has the strategy ${strategy}`, ({ spec }) => spec.runStrategy === strategy), choice === "Leave it" ? "none" : "power", "f:spec", "f:runStrategy");
  }
  await until("runs", ({ status }) => status?.phase === "Active");
}

/** Keeps new pods from a node, and takes it back. */
export async function cordon(page, cluster) {
  const node = await cluster.get("nodes", undefined, "worker-12");
  await open(page, "/nodes/worker-12");
  await action(page, node, "Cordon");
  owns(await cluster.until("nodes", undefined, "worker-12", "is cordoned", ({ spec }) => spec.unschedulable === true), "cordon", "f:spec", "f:unschedulable");
  await action(page, node, "Uncordon");
  await cluster.until("nodes", undefined, "worker-12", "is open again", ({ spec }) => spec.unschedulable === undefined);
  await undone(page, node, await ask(page, "Cordon"));
  right((await cluster.get("nodes", undefined, "worker-12")).spec.unschedulable === undefined, "what was taken back is not");
}

/** Puts a node into a pool, and takes it back. */
export async function pools(page, cluster) {
  const node = await cluster.get("nodes", undefined, "worker-12");
  await open(page, "/nodes/worker-12");
  await ready(page.locator(".acts"), "Edit pools").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("made", { exact: true }).check();
  await dialog.locator("code.c", { hasText: "kubectl label node worker-12 node-role.kubernetes.io/made=" }).waitFor();
  right((await cluster.get("nodes", undefined, "worker-12")).metadata.labels["node-role.kubernetes.io/made"] === undefined, "a node is put into a pool before it is applied");
  await undone(page, node, () => ready(dialog, "Apply").click());
  await cluster.until("nodes", undefined, "worker-12", "is in no pool of this name", ({ metadata }) => metadata.labels["node-role.kubernetes.io/made"] === undefined);
}

/** Drains a node: first it is said what would become of each pod, and one that nothing creates again goes only where that is chosen. */
export async function drain(page, cluster) {
  const node = await cluster.get("nodes", undefined, "worker-12");
  await cluster.create("pods", "default", { metadata: { name: "drained" }, spec: { nodeName: "worker-12", tolerations: [{ operator: "Exists" }], containers: [{ name: "main", image: "example.com/nothing:1" }] } });
  await open(page, "/nodes/worker-12");
  await press(page, "Drain");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 stays: nothing would create it again").waitFor();
  await dialog.getByLabel("Also evict pods that nothing creates again: they are lost").check();
  await dialog.locator("code.c", { hasText: "kubectl drain worker-12 --ignore-daemonsets --force" }).waitFor();
  await dialog.getByText(/would be evicted$/).waitFor();
  await dialog.getByText("default/drained").waitFor({ state: "attached" }); // folded where there are many
  right((await cluster.get("nodes", undefined, "worker-12")).spec.unschedulable === undefined && (await cluster.get("pods", "default", "drained"))?.metadata.deletionTimestamp === undefined, "a drain that is only shown has begun");
  await acted(page, node, () => ready(dialog, "Drain").click());
  await dialog.getByText("The node is drained. It stays cordoned.").waitFor();
  right((await cluster.get("pods", "default", "drained")) === undefined, "a pod is on a node that is drained");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  owns(await cluster.until("nodes", undefined, "worker-12", "is cordoned", ({ spec }) => spec.unschedulable === true), "cordon", "f:spec", "f:unschedulable");
  await action(page, node, "Uncordon");
  await cluster.until("nodes", undefined, "worker-12", "is open again", ({ spec }) => spec.unschedulable === undefined);
}

/** The pool was created as a rehearsal: it is applied, then changed, rehearsed again, and applied. */
export async function rehearse(page, cluster) {
  const label = async () => (await cluster.get("nodes", undefined, "worker-11")).metadata.labels["example.com/made"];
  const carries = (value) => cluster.until("nodes", undefined, "worker-11", `carries ${value}`, ({ metadata }) => metadata.labels["example.com/made"] === value);
  const pool = await cluster.get("nodepools", undefined, "made");
  await open(page, "/nodepools/made");
  await page.getByText("example.com/made=yes").first().waitFor();
  await ready(page, "Apply to 1 node").waitFor();
  right((await label()) === undefined, "a pool that rehearses has touched a node");
  await acted(page, pool, () => ready(page, "Apply to 1 node").click());
  await carries("yes");
  await ready(page, "Apply to 1 node").waitFor({ state: "hidden" }); // the page knows it too: the change begins with what it shows

  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const text = dialog.getByRole("textbox", { name: "The pool as it should be" });
  await softer(page, cluster, dialog, text);
  await retype(page, text, "example.com/made: ", "example.com/made: again");
  await dialog.getByText("example.com/made=again").first().waitFor(); // foreseen, and nothing is written
  right((await cluster.get("nodepools", undefined, "made")).spec.labels["example.com/made"] === "yes", "the preview has written the pool");
  await acted(page, pool, () => ready(dialog, "Rehearse").click());
  await dialog.getByText("No node has been touched").waitFor();
  const rehearsed = await cluster.get("nodepools", undefined, "made");
  right(rehearsed.spec.dryRun === true && (await label()) === "yes", "the rehearsal is none");
  owns(rehearsed, "change", "f:spec", "f:labels", "f:example.com/made");
  await acted(page, pool, () => ready(dialog, "Apply to 1 node").click());
  await carries("again");
}

/** A taint that would delete a pod is made a softer one with a button, in the text that is typed. */
async function softer(page, cluster, dialog, text) {
  const node = "worker-11";
  await cluster.create("pods", "default", { metadata: { name: "stays" }, spec: { nodeName: node, terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "example.com/nothing:1" }] } });
  await cluster.until("pods", "default", "stays", "runs", ({ status }) => status?.phase === "Running");
  await retype(page, text, /^ *labels:$/, "taints: [{key: example.com/hard, effect: NoExecute}]\nlabels:");
  await dialog.getByText("default/stays").waitFor({ state: "attached" }); // folded where there are many
  await dialog.getByRole("button", { name: "Use NoSchedule instead" }).click();
  await text.locator(".cm-line", { hasText: "effect: NoSchedule" }).waitFor();
  await dialog.getByText("default/stays").waitFor({ state: "detached" });
  await retype(page, text, "effect: NoSchedule", "");
  await dialog.getByText("No node would change.").waitFor();
  await cluster.delete("pods", "default", "stays");
}

/** The cluster waits with its plan: it is approved, and its tool tried again when it has failed. */
export async function approve(page, cluster) {
  const annotation = (name) => ["f:metadata", "f:annotations", `f:clusterprovisioner.rke.io/${name}`];
  const waiting = await cluster.until("clusters", undefined, "made", "waits with a plan", ({ status }) => status?.plan !== undefined);
  const { id } = waiting.status.plan;
  await open(page, "/clusters/made");
  await page.locator("code.c", { hasText: `clusterprovisioner.rke.io/approve=${id}` }).first().waitFor();
  await acted(page, waiting, () => ready(page, `Approve plan ${id}`).click());
  const approved = await cluster.until("clusters", undefined, "made", "is approved, and its tool has run", ({ metadata, status }) =>
    metadata.annotations?.["clusterprovisioner.rke.io/approve"] === id && status.lastOperation?.endTime !== undefined);
  owns(approved, "approve", ...annotation("approve"));
  await action(page, approved, "Retry now");
  owns(await cluster.until("clusters", undefined, "made", "is tried again", ({ metadata }) => metadata.annotations?.["clusterprovisioner.rke.io/retry"] !== undefined), "retry", ...annotation("retry"));
}
