import { expect, test } from "vitest";
import { others, later, givenUp, steps } from "../i18n/en-steps";
import { zhTranslation } from "../i18n/zh";
import { nextOf } from "./next";
import type { Status } from "./status";

const bare = { metadata: { name: "a" } };
const cases: Record<string, { kind: string; status: Status; spec?: unknown; want: string | undefined }> = {
  "a reason of its kind": { kind: "NodePool", status: { name: "stalled", reason: "KeysHeldElsewhere" }, want: steps.NodePool.KeysHeldElsewhere },
  "a reason that kinds share": { kind: "PodSet", status: { name: "stalled", reason: "PoolCapacityShort" }, want: steps[""].PoolCapacityShort },
  "what is tried again": { kind: "Cluster", status: { name: "retrying", reason: "Timeout" }, want: steps.Cluster.Timeout },
  "what is given up": { kind: "Cluster", status: { name: "stalled", reason: "Timeout" }, want: givenUp.Cluster.Timeout },
  "a name in the sentence": {
    kind: "PodSet", status: { name: "stalled", reason: "PoolHasNoNode" }, spec: { nodePool: "gpu" },
    want: "Add a node to the pool: give one the label node-role.kubernetes.io/gpu, or one that the pool selects.",
  },
  "what needs a command, without the words that explain the command": {
    kind: "VirtualMachine", status: { name: "retrying", reason: "Crashed" }, want: "Read the last output of the machine. The run strategy Halted ends a loop.",
  },
  "a node that is not ready, whatever its kubelet calls it": { kind: "Node", status: { name: "stalled", reason: "NodeStatusUnknown" }, want: steps[""].NodeNotReady },
  "a node that is short of something": { kind: "Node", status: { name: "attention", reason: "KubeletHasDiskPressure" }, want: steps.Node.NodePressure },
  "a container that crashes": { kind: "Pod", status: { name: "retrying", reason: "ContainersNotReady", word: "CrashLoopBackOff" }, want: steps.Pod.ContainerCrashes },
  "a pod without a node": { kind: "Pod", status: { name: "stalled", reason: "Unschedulable", word: "Pending" }, want: steps.Pod.Unschedulable },
  "a pod that has failed": { kind: "Pod", status: { name: "stalled", reason: "PodFailed", word: "Failed" }, want: steps.Pod.PodFailed },
  "a reason that nobody knows": { kind: "PodSet", status: { name: "stalled", reason: "FromTheFuture" }, want: undefined },
};

test.each(Object.entries(cases))("the next step of %s", (_, { kind, status, spec, want }) => {
  expect(nextOf(kind, status, { ...bare, spec })).toBe(want);
});

test("what the server says to do is said in Chinese, with the names that it has", () => {
  const said = [steps, givenUp].flatMap((table) => Object.values(table).flatMap((rows: Record<string, string>) => Object.values(rows)));
  for (const text of [...said, ...others, later]) expect(zhTranslation.step(text.replace("{pool}", "gpu")), text).toMatch(/\p{Script=Han}/u);
  expect(zhTranslation.step("Add a node to the pool: give one the label node-role.kubernetes.io/gpu.a, or one that the pool selects.")).toContain(" node-role.kubernetes.io/gpu.a，");
  expect(zhTranslation.step("Do something else.")).toBeUndefined();
});
