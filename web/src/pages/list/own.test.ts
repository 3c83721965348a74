import { expect, test } from "vitest";
import type { Objects } from "../../api/types";
import { ownValue } from "./own";

const node = {
  metadata: { name: "a", labels: { "nodepool.node-restriction.kubernetes.io/edge": "" } }, spec: { taints: [{ key: "t", effect: "NoSchedule" }] }, status: { allocatable: { cpu: "8", memory: "8Gi" } },
} as unknown as Objects["nodes"];
const pod = { metadata: { name: "p" }, spec: { nodeName: "a", containers: [{ resources: { requests: { cpu: "2" } } }] } } as unknown as Objects["pods"];
const pool = { metadata: { name: "edge" } } as unknown as Objects["nodepools"];

test("nodes are sorted by how full they are, by the pods that there are now", () => {
  expect(ownValue("CPU", node, { pods: [pod], pools: [] })).toBe(0.25);
  expect(ownValue("CPU", node, { pods: [], pools: [] })).toBe(0);
  expect([ownValue("Pools", node, { pods: [], pools: [pool] }), ownValue("Pools", node, { pods: [], pools: [] }), ownValue("Taints", node, { pods: [], pools: [] })]).toEqual(["edge", "", "t:NoSchedule"]);
});

test("a list is not sorted by sums that its cells do not show", () => {
  expect(ownValue("Memory", node, { pods: undefined, pools: [pool] })).toBeUndefined();
});
