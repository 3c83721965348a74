import { expect, test } from "vitest";
import type { Objects } from "../../../api/types";
import { pack, requestsAny } from "./packing";

const node = (name: string, more: object = {}, cpu = "64") => ({
  metadata: { name, labels: { "nodepool.node-restriction.kubernetes.io/gpu": "" } }, status: { allocatable: { cpu, memory: "128Gi" }, conditions: [{ type: "Ready", status: "True" }] }, ...more,
}) as unknown as Objects["nodes"];
const pod = (name: string, nodeName: string, cpu: string) => ({ metadata: { name, uid: name }, spec: { nodeName, containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }] } }) as unknown as Objects["pods"];
const pools = [{ metadata: { name: "gpu" }, spec: {} } as unknown as Objects["nodepools"]];
const wants = { cpu: 48, memory: 2 ** 30 };

test("what fits is told by the scarcer resource, and a node that takes no pods has no room", () => {
  const nodes = [node("a"), node("b"), node("c", { spec: { unschedulable: true } })];
  const found = pack("gpu", nodes, pools, [pod("mine", "a", "48"), pod("other", "b", "20")], new Set(["mine"]), wants);
  expect(found.resource).toBe("cpu");
  expect(found.bins.map((bin) => [bin.name, bin.free, bin.fits, bin.shut])).toEqual([["a", 16, 0, undefined], ["b", 44, 0, undefined], ["c", 64, 0, "cordoned"]]);
  expect(found.room).toBe(1);
  expect(pack("gpu", nodes, pools, [], new Set(), wants).room).toBe(2);
});

test("pods that request nothing say nothing of what fits", () => {
  expect(pack("gpu", [node("a")], pools, [], new Set(), { cpu: 0, memory: 0 }).bins[0]?.fits).toBe(0);
});

test("nodes of other pools are not counted", () => {
  expect(pack("edge", [node("a")], pools, [], new Set(), wants).bins).toEqual([]);
});

test("a stepper promises no pods that an extended resource, or the number of pods of a node, leaves no room for", () => {
  const gpus = (count: string, pods = "110") => node("a", { status: { allocatable: { cpu: "64", memory: "128Gi", pods, "nvidia.com/gpu": count }, conditions: [{ type: "Ready", status: "True" }] } });
  const some = { cpu: 1, memory: 2 ** 30, "nvidia.com/gpu": 1 };
  expect(pack("gpu", [gpus("2")], pools, [], new Set(), some)).toMatchObject({ resource: "nvidia.com/gpu", each: 1, room: 2 });
  expect(pack("gpu", [node("b")], pools, [], new Set(), some).room).toBe(0);
  expect(pack("gpu", [gpus("8", "3")], pools, [pod("other", "a", "1")], new Set(), some).room).toBe(2);
  const alone = { cpu: 0, memory: 0, "nvidia.com/gpu": 1 };
  expect([requestsAny(alone), requestsAny({ cpu: 0, memory: 0 })], "pods that request nothing else are counted too").toEqual([true, false]);
  expect(pack("gpu", [gpus("2")], pools, [], new Set(), alone)).toMatchObject({ resource: "nvidia.com/gpu", room: 2 });
});
