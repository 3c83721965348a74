import { expect, test } from "vitest";
import type { KubeObject } from "../api/types";
import { kindOf } from "../kinds/registry";
import { coversLoss, deletionAt, deletionOf, lossOf } from "./fate";

function of(plural: Parameters<typeof deletionOf>[0], spec: object, status: object = {}) {
  const object: KubeObject = { metadata: { name: "x" } };
  return deletionOf(plural, { ...object, spec, status } as KubeObject);
}

test("a guest loses its disks, and not what is attached", () => {
  const gone = of("virtualmachines", { driver: "libvirt", image: { name: "debian.qcow2" }, resource: { rootDisk: "40Gi" }, disks: [{ name: "data", size: "200Gi" }, { name: "archive", source: "/a" }] });
  expect(gone.fates.map((fate) => [fate.goes, fate.key])).toEqual([
    [true, "delete.vm.machine"], [true, "delete.vm.root"], [true, "delete.vm.disk"], [false, "delete.vm.attached"], [false, "delete.vm.image"],
  ]);
  expect(gone.loss).toEqual({ key: "delete.vm.loss", values: { size: "240 Gi" } });
});

test("what is retained loses nothing", () => {
  for (const each of [of("virtualmachines", { deletionPolicy: "Retain" }), of("clusters", { deletionPolicy: "Orphan" })]) {
    expect(each.loss).toBeUndefined();
    expect(each.fates.every((fate) => !fate.goes)).toBe(true);
  }
});

test("running pods take a tick, and none does not", () => {
  expect(of("podsets", {}, { replicas: 3 }).loss?.values).toEqual({ count: 3 });
  expect(of("podsets", {}, { replicas: 0 }).loss).toBeUndefined();
  expect(of("nodepools", { drain: { policy: "Evict" } }, { nodeCount: 2 }).loss?.key).toBe("delete.pool.loss");
  expect(of("nodepools", {}, { nodeCount: 2 }).loss).toBeUndefined();
  expect(of("nodepools", { deletionPolicy: "Orphan", drain: { policy: "Evict" } }, { nodeCount: 2 }).loss).toBeUndefined();
});

test.each([
  ["running pods are counted together", [of("podsets", {}, { replicas: 3 }), of("podsets", {}, { replicas: 0 }), of("podsets", {}, { replicas: 2 })], { key: "delete.pods.loss", values: { count: 5 } }],
  ["the only loss is named", [of("clusters", { deletionPolicy: "Orphan" }), of("nodepools", { drain: { policy: "Evict" } }, { nodeCount: 2 })], { key: "delete.pool.loss" }],
  ["different losses are so many", [of("virtualmachines", {}), of("virtualmachines", {}), of("virtualmachines", { deletionPolicy: "Retain" })], { key: "bulk.loss", values: { count: 2 } }],
  ["what loses nothing takes no tick", [of("virtualmachines", { deletionPolicy: "Retain" }), of("podsets", {}, { replicas: 0 })], undefined],
])("of several, %s", (_, deletions, loss) => expect(lossOf(deletions)).toEqual(loss));

test.each([
  ["as many pods", of("podsets", {}, { replicas: 3 }), of("podsets", {}, { replicas: 3 }), true],
  ["more pods", of("podsets", {}, { replicas: 3 }), of("podsets", {}, { replicas: 50 }), false],
  ["fewer pods", of("podsets", {}, { replicas: 50 }), of("podsets", {}, { replicas: 3 }), true],
  ["another disk", of("virtualmachines", { driver: "libvirt", resource: { rootDisk: "40Gi" } }), of("virtualmachines", { driver: "libvirt", resource: { rootDisk: "40Gi" }, disks: [{ name: "data", size: "200Gi" }] }), false],
  ["what was to stay", of("virtualmachines", { deletionPolicy: "Retain" }), of("virtualmachines", {}), false],
  ["the same without numbers", of("nodepools", { drain: { policy: "Evict" } }, { nodeCount: 2 }), of("nodepools", { drain: { policy: "Evict" } }, { nodeCount: 2 }), true],
])("a tick covers no greater loss than it named: %s", (_, before, now, covered) => expect(now.loss && coversLoss(before.loss, now.loss)).toBe(covered));

test("what is out of sight is lost if its kind can lose something", () => {
  const at = (plural: string) => { const kind = kindOf(plural); return kind && deletionAt({ kind, namespace: "ci", name: "a" }, undefined).loss; };
  expect(at("virtualmachines")).toEqual({ key: "confirm.loss", values: { name: "ci/a" } });
  expect(at("services")).toBeUndefined();
});
