import { expect, test } from "vitest";
import type { Objects } from "../../api/types";
import { ownValue } from "./own";

const metadata = { uid: "0-1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const node = {
  apiVersion: "v1", kind: "Node", metadata: { ...metadata, name: "a", labels: { "nodepool.node-restriction.kubernetes.io/edge": "" } },
  spec: { taints: [{ key: "t", effect: "NoSchedule" }] }, status: { allocatable: { cpu: "8", memory: "8Gi" } },
} as Objects["nodes"];
const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "p" }, spec: { nodeName: "a", containers: [{ name: "main", resources: { requests: { cpu: "2" } } }] } } as Objects["pods"];
const pool = { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { ...metadata, name: "edge" } } as Objects["nodepools"];

test("nodes are sorted by how full they are, by the pods that there are now", () => {
  expect(ownValue("CPU", node, { pods: [pod], pools: [] })).toBe(0.25);
  expect(ownValue("CPU", node, { pods: [], pools: [] })).toBe(0);
  expect([ownValue("Pools", node, { pods: [], pools: [pool] }), ownValue("Pools", node, { pods: [], pools: [] }), ownValue("Taints", node, { pods: [], pools: [] })]).toEqual(["edge", "", "t:NoSchedule"]);
});

test("a list is not sorted by sums that its cells do not show", () => {
  expect(ownValue("Memory", node, { pods: undefined, pools: [pool] })).toBeUndefined();
});
