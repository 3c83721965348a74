import { expect, test } from "vitest";
import { kindOf } from "../kinds/registry";
import { taken } from "./clash";
import { type Order, orders, type Target } from "./commands";

function target(plural: string, namespace?: string): Target {
  const kind = kindOf(plural);
  if (!kind) throw new Error(`there is no kind ${plural}`);
  return { kind, namespace, name: "a", uid: "0-1" };
}

const machine = target("virtualmachines", "ci");
const set = target("podsets", "ci");
const pool = target("nodepools");
const cluster = target("clusters");

/** Buttons that write a time or a number to set something off: there is nothing of others to keep. */
const setsOff = ["a restart that is planned", "Restart pods", "Let the nodes go", "Approve plan", "Retry now", "Let it go without these machines"];

const buttons: Record<string, [Order, string]> = {
  "Stop": [orders.power(machine, "off"), "power"],
  "a run strategy": [orders.strategy(machine, "Halted"), "power"],
  "a restart that is planned": [orders.restartAt(machine, undefined), "power"],
  "Resize": [orders.resize(machine, { cpu: "2" }), "resize"],
  "Restart pods": [orders.restart(set), "restart"],
  "Pause": [orders.pause(set, true), "pause"],
  "Resume, which takes back what Pause has written": [orders.pause(set, false), "pause"],
  "Let the nodes go": [orders.acknowledge(pool, 3), "acknowledge"],
  "Cordon": [orders.cordon(target("nodes"), true), "cordon"],
  "Uncordon, which takes back what Cordon has written": [orders.cordon(target("nodes"), false), "cordon"],
  "Drain, whose cordon Uncordon takes back": [orders.drain(target("nodes")), "cordon"],
  "Go back": [orders.rollback(target("deployments", "ci")), "rollback"],
  "Approve plan": [orders.approve(cluster, "1"), "approve"],
  "Retry now": [orders.retry(cluster), "retry"],
  "Let it go without these machines": [orders.accept(cluster, ["192.0.2.7"]), "accept"],
  "Scale": [orders.scale(set, 3), "scale"],
  "deletionPolicy": [orders.keep(cluster, "Orphan"), "keep"],
};

test.each(Object.entries(buttons))("%s acts on the object that the reader sees, under a name of its own", (name, [order, manager]) => {
  const { searchParams } = new URL(order.path, "http://console");
  const { refuseConflicts, ...others } = Object.fromEntries(searchParams);
  expect(others).toEqual({ uid: "0-1", fieldManager: `windlass-console-${manager}` });
  expect(refuseConflicts, "what others have set is not overwritten unasked").toBe(setsOff.includes(name) ? undefined : "true");
});

test("what is taken over is the same order, and is not refused any more", () => {
  const order = orders.power(machine, "off");
  expect(taken(order)).toEqual({ ...order, path: "/v1/virtualmachines/ci/a/power?uid=0-1&fieldManager=windlass-console-power" });
});

test("the second plan, and whatever else leaves its annotation, is written as the first one", () => {
  const stays = Object.values(buttons).map(([{ kubectl }]) => kubectl).filter((kubectl) => kubectl.startsWith("kubectl annotate") && kubectl.includes("="));
  expect(stays.length).toBeGreaterThan(2);
  for (const kubectl of stays) expect(kubectl).toContain(" --overwrite ");
});

test("Delete acts on the object that the reader sees", () => {
  expect(new URL(orders.delete(machine).path, "http://console").searchParams.get("uid")).toBe("0-1");
});

test.each([
  [{}, undefined, ""],
  [{ alone: true }, { force: true }, " --force"],
  [{ alone: true, emptyDirs: true }, { force: true, deleteEmptyDirData: true }, " --force --delete-emptydir-data"],
])("a drain with %j loses what was chosen alone", (chosen, body, flags) => {
  const order = orders.drain(target("nodes"), chosen);
  expect([order.body, order.kubectl]).toEqual([body, `kubectl drain a --ignore-daemonsets${flags}`]);
});
