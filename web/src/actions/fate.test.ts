import { expect, test } from "vitest";
import type { KubeObject } from "../api/types";
import { deletionOf } from "./fate";

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
