import { expect, test } from "vitest";
import type { Objects } from "../../../api/types";
import { knownOf, type Listed, totalOf, wordOf } from "./nodes";

type Cluster = Objects["clusters"];
const cluster = (nodes: NonNullable<Cluster["status"]>["nodes"], healthy: "True" | "False" = "True"): Cluster => ({
  apiVersion: "clusterprovisioner.rke.io/v1alpha1", kind: "Cluster", metadata: { name: "one", uid: "0-1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { configPath: "/a" }, status: { ...(nodes ? { nodes } : {}), conditions: [{ type: "Healthy", status: healthy, reason: "Answering", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }] },
});
const node = (ready: Listed["ready"], more: Partial<Listed> = {}): Listed => ({ name: "a", ready, ...more });
const since = "2026-01-01T00:00:00Z";

test.each([
  [node("True", { reason: "NotJoined" }), "ready"],
  [node("False", { reason: "KubeletNotReady", since }), "readyNot"],
  [node("Unknown", { reason: "NodeStatusUnknown", since }), "readyNot"],
  [node("Unknown", { since }), "readyNot"],
  [node("Unknown"), "unknown"],
  [node("Unknown", { reason: "NotJoined" }), "joinedNot"],
  [node("Unknown", { reason: "NotProbed" }), "probedNot"],
])("%j is %s", (item, word) => expect(wordOf(item)).toBe(word));

test("all nodes are counted, also those that are not listed", () => {
  expect(totalOf(undefined)).toBe(0);
  expect(totalOf(cluster(undefined))).toBe(0);
  expect(totalOf(cluster({ desired: 3, ready: 3 }))).toBe(0);
  expect(totalOf(cluster({ desired: 1, ready: 1, total: 5000, items: [node("True")] }))).toBe(5000);
});

test("what is not known is not said to be so", () => {
  expect(knownOf(undefined)).toBe("notYet");
  expect(knownOf(cluster(undefined))).toBe("notYet");
  expect(knownOf(cluster({ desired: 3, ready: 3 }))).toBe("notYet"); // by a Windlass that only counted
  expect(knownOf(cluster({ desired: 1, ready: 0, total: 1, items: [node("Unknown", { reason: "NotProbed" })] }))).toBe("notYet");
  expect(knownOf(cluster({ desired: 0, ready: 0 }))).toBe("none");
  expect(knownOf(cluster({ desired: 1, ready: 1, total: 1, items: [node("True")] }))).toBe("listed");
  expect(knownOf(cluster({ desired: 1, ready: 1, total: 1, items: [node("True")] }, "False"))).toBe("old");
});
