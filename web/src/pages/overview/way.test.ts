import { expect, test } from "vitest";
import type { KubeObject } from "../../api/types";
import { en } from "../../i18n/en";
import { fill } from "../../i18n";
import { kindOf } from "../../kinds/registry";
import { isThere, wayOf } from "./way";

const named = (name: string, more = {}) => ({ metadata: { name, namespace: "ml" }, ...more });
const alone = (name: string, more = {}) => ({ metadata: { name }, ...more });
const cases: Record<string, { plural: string; reason?: string; objects: KubeObject[]; contested?: string; says: string; to: string; search?: object }> = {
  "a pool that loses a key leads to the node where it does": { plural: "nodepools", reason: "KeysHeldElsewhere", objects: [alone("edge")], contested: "edge-03", says: "Compare edge-03", to: "/nodes/edge-03" },
  "a pool whose node nobody may see leads to its checks": { plural: "nodepools", reason: "KeysHeldElsewhere", objects: [alone("edge")], says: "See why", to: "/nodepools/edge", search: { tab: "why" } },
  "pods that do not fit lead to the sum": { plural: "podsets", reason: "PoolCapacityShort", objects: [named("train")], says: "Show the sum", to: "/podsets/ml/train" },
  "a pod set leads to a pool with a trouble": { plural: "podsets", reason: "PoolCordoned", objects: [named("train", { spec: { nodePool: "gpu" } })], says: "Open gpu", to: "/nodepools/gpu" },
  "a pool that is not there leads to those that are": { plural: "podsets", reason: "PoolNotFound", objects: [named("train")], says: "Show the pools", to: "/nodepools" },
  "a node leads to its page": { plural: "nodes", reason: "NodeStatusUnknown", objects: [alone("worker-07")], says: "Open worker-07", to: "/nodes/worker-07" },
  "two machines on a host lead to both": { plural: "virtualmachines", reason: "DriverUnreachable", objects: [named("a"), named("b")], says: "Show both", to: "/virtualmachines", search: { group: "host" } },
  "many pods lead to all": { plural: "pods", objects: [named("a"), named("b"), named("c")], says: "Show all 3", to: "/pods" },
  "a plan leads to its review": { plural: "clusters", reason: "WaitingForApproval", objects: [alone("aws")], says: "Review the plan", to: "/clusters/aws" },
  "a failed run leads to its log": { plural: "clusters", reason: "SSHAuth", objects: [alone("aws")], says: "Read the log", to: "/clusters/aws", search: { tab: "logs" } },
  "what was written wrong leads to its text": { plural: "virtualmachines", reason: "InvalidSpec", objects: [named("vm")], says: "Edit", to: "/virtualmachines/ml/vm", search: { tab: "yaml" } },
  "a pool that was written wrong leads to its page, where a change is rehearsed": { plural: "nodepools", reason: "InvalidSelector", objects: [alone("gpu")], says: "Open gpu", to: "/nodepools/gpu" },
  "any other reason leads to its checks": { plural: "deployments", reason: "ProgressDeadlineExceeded", objects: [named("web")], says: "See why", to: "/deployments/ml/web", search: { tab: "why" } },
};

test.each(Object.entries(cases))("%s", (_, { plural, reason, objects, contested, says, to, search }) => {
  const way = wayOf({ plural, status: { name: "stalled", ...(reason ? { reason } : {}) }, objects }, kindOf(plural), { contested });
  expect({ says: way && fill(en[way.key], way.values), to: way?.to, search: way?.search }).toEqual({ says, to, search });
});

test("a way leads nowhere from where it leads to, and to another tab of the same page", () => {
  const plan = { key: "way.plan", to: "/clusters/aws" } as const;
  expect([isThere(plan, "/clusters/aws", ""), isThere(plan, "/clusters/aws", "why"), isThere(plan, "/clusters", "")]).toEqual([true, false, false]);
  expect(isThere({ ...plan, search: { tab: "logs" } }, "/clusters/aws", "logs")).toBe(true);
});
