import { expect, test } from "vitest";
import type { Condition, KubeObject } from "../api/types";
import { age, clock } from "./age";
import { matters, tallyOf } from "./order";
import { quantity } from "./quantity";
import { conditionStatus, statusOf } from "./status";

function object(name: string, conditions: Partial<Condition>[], more: object = {}) {
  return { metadata: { name, uid: name, generation: 1 }, status: { observedGeneration: 1, conditions: conditions.map((condition) => ({ status: "True", type: "?", ...condition })), ...more } };
}

const ready = { type: "Ready", status: "True", reason: "Ready" };
const waits = { type: "Ready", status: "False", reason: "Waiting", message: "waits" };

test.each([
  ["ready", "podsets", object("a", [ready])],
  ["reconciling", "podsets", object("a", [waits, { type: "Reconciling" }])],
  ["stalled", "podsets", object("a", [waits, { type: "Stalled", reason: "Broken" }])],
  ["paused", "podsets", object("a", [ready, { type: "Paused" }])],
  ["waiting", "nodepools", object("a", [{ ...waits, reason: "TooManyLeaving" }, { type: "Stalled" }])],
  ["unknown", "virtualmachines", object("a", [{ ...waits, status: "Unknown" }], { phase: "Unknown" })],
  ["retrying", "virtualmachines", object("a", [waits, { type: "Reconciling" }], { startFailure: { reason: "Crashed" } })],
  ["ready", "virtualmachines", object("a", [ready], { phase: "Active", startFailure: { reason: "Crashed" } })],
  ["retrying", "virtualmachines", object("a", [ready, { type: "Reconciling" }], { startFailure: { reason: "Crashed" } })],
  ["attention", "virtualmachines", object("a", [ready, { type: "RestartRequired", reason: "ResizePending" }])],
  ["attention", "virtualmachines", object("a", [waits, { type: "Stalled", reason: "ResizePending" }, { type: "RestartRequired", reason: "ResizePending" }])],
  ["stalled", "virtualmachines", object("a", [waits, { type: "Stalled", reason: "NoCapacity" }, { type: "RestartRequired", reason: "ResizePending" }])],
  ["stalled", "nodes", object("a", [{ ...waits }])],
  ["attention", "nodes", object("a", [ready, { type: "DiskPressure" }])],
] as const)("%s", (name, plural, of) => expect(statusOf(plural, of).name).toBe(name));

test("a list does not call a pod well that waits for a node, though its owner tells of it", () => {
  const owned = { metadata: { name: "a", uid: "a", ownerReferences: [{ kind: "ReplicaSet", controller: true }] } };
  const waiting = { ...owned, status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/20 nodes are available" }] } };
  const running = { ...owned, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
  expect(tallyOf("pods", [running, waiting])).toMatchObject({ bad: 1, moving: 0, stopped: 0, ready: 1, worst: undefined });
});

test.each([
  ["Terminating", { phase: "Running" }],
  ["Terminating", { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] }],
  ["Failed", { phase: "Failed" }],
  ["Unknown", { phase: "Running", reason: "NodeLost" }],
])("a pod that is being deleted is %s, as for kubectl", (word, status) => {
  expect(statusOf("pods", { metadata: { name: "a", uid: "a", deletionTimestamp: "2026-01-01T00:00:00Z" }, status })).toMatchObject({ name: "deleting", word });
});

test("an object that is being deleted says so before all else", () => {
  const of = object("a", [{ type: "Stalled" }]);
  expect(statusOf("podsets", { ...of, metadata: { ...of.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }).name).toBe("deleting");
});

test("the worst comes first, and the same trouble is one row", () => {
  const stalled = (name: string) => object(name, [{ ...waits, message: "no host" }, { type: "Stalled" }]);
  const { needs, moves } = matters({
    clusters: [object("c", [{ ...waits, reason: "WaitingForApproval" }])], podsets: [stalled("a"), stalled("b"), object("m", [waits, { type: "Reconciling" }])],
  }, 0);
  expect(needs.map((matter) => [matter.status.name, matter.objects.length])).toEqual([["stalled", 2], ["waiting", 1]]);
  expect(moves).toHaveLength(1);
});

test("what moves is left out where nobody asks for it", () => {
  const podsets = [object("m", [waits, { type: "Reconciling" }]), object("a", [{ ...waits, message: "no host" }, { type: "Stalled" }])];
  expect(matters({ podsets }, 0, false)).toEqual({ needs: matters({ podsets }, 0).needs, moves: [] });
});

test.each([[0, "0s"], [119, "119s"], [125, "2m5s"], [600, "10m"], [3 * 3600, "3h"], [3 * 3600 + 600, "3h10m"], [30 * 3600, "30h"], [49 * 3600, "2d1h"], [10 * 86400, "10d"]])("%d seconds are %s", (seconds, text) => {
  expect(age(new Date(1e12 - seconds * 1000).toISOString(), 1e12)).toBe(text);
});

test("what nobody has reported on has no age", () => {
  const of = { metadata: { name: "a", uid: "a", generation: 1 }, status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NotObserved", lastTransitionTime: "1970-01-01T00:00:00Z" }] } };
  expect(statusOf("podsets", of)).toEqual({ name: "reconciling", reason: "NotObserved" });
  expect(age("1970-01-01T00:00:00Z", 1e12)).toBe("<unknown>");
});

test.each([["100m", 0.1], ["2", 2], ["1Gi", 2 ** 30], ["1.5G", 1.5e9], ["", 0], ["x", 0]])("the quantity %s", (text, value) => expect(quantity(text)).toBeCloseTo(value));

test("a time of another year has its year, one of this year has none", () => {
  const now = Date.parse("2026-06-15T12:00:00Z");
  expect(clock("2036-06-20T12:00:00Z", "en", now)).toContain("2036");
  expect(clock("2026-06-20T12:00:00Z", "en", now)).not.toContain("2026");
});

test.each(["en", "en-GB", "zh-Hans"])("five past midnight is no hour 24 in %s", (language) => {
  const midnight = new Date(2026, 5, 15, 0, 5, 7);
  expect(clock(midnight.toISOString(), language, midnight.getTime())).toBe("00:05:07");
});

test("a node that holds up a rollout comes before others, and says so", () => {
  const pool = object("p", [waits, { type: "Reconciling", reason: "TooManyUnavailable" }]);
  pool.status.conditions = [{ type: "Ready", status: "False", reason: "TooManyUnavailable", message: "waits" }, { type: "Reconciling", status: "True" }];
  const bad = { ...waits, message: "gone" };
  const member = object("b", [{ ...bad }]);
  const nodes = [object("a", [{ ...bad, message: "other" }]), { ...member, metadata: { ...member.metadata, labels: { "nodepool.node-restriction.kubernetes.io/p": "" } } }];
  const { needs } = matters({ nodes, nodepools: [pool] }, Date.now());
  expect(needs.map(({ objects, holds }) => [objects[0]?.metadata.name, holds])).toEqual([["b", ["p"]], ["a", []]]);
});

test("a pod of which no owner tells is among what needs somebody, and one that its owner makes anew is not", () => {
  const pod = (name: string, kind: string | undefined, status: object) => ({ metadata: { name, uid: name, ...(kind ? { ownerReferences: [{ kind, name: "o", controller: true }] } : {}) }, status }) as KubeObject;
  const stuck = { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] };
  const crashing = { phase: "Running", containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } } }] };
  const pods = [
    pod("bare", undefined, stuck), pod("daemon", "DaemonSet", stuck), pod("set", "ReplicaSet", stuck), pod("evicted", "DaemonSet", { phase: "Failed" }), pod("crash", "StatefulSet", crashing),
    pod("young", "DaemonSet", { phase: "Pending" }),
  ];
  const { needs, moves } = matters({ pods }, Date.now());
  const names = (of: typeof needs) => of.flatMap(({ objects }) => objects.map(({ metadata }) => metadata.name)).sort();
  expect([names(needs), names(moves)]).toEqual([["bare", "daemon"], ["crash"]]);
  expect(tallyOf("pods", pods).worst).toEqual({ name: "stalled", count: 2 });
});

test("a condition that waits for somebody has the shape of that, and what waits for a restart is not red", () => {
  const waiting = { ...waits, reason: "WaitingForApproval" };
  const whole = statusOf("clusters", object("c", [waiting, { type: "Reconciling", reason: "WaitingForApproval" }]));
  const shape = (condition: Partial<Condition>, of: ReturnType<typeof statusOf>) => conditionStatus({ type: "Ready", status: "True", ...condition }, of);
  expect([shape(waiting, whole), shape({ type: "Reconciling", reason: "WaitingForApproval" }, whole)]).toEqual(["waiting", "waiting"]);
  const restarts = statusOf("virtualmachines", object("a", [waits, { type: "Stalled", reason: "ResizePending" }, { type: "RestartRequired", reason: "ResizePending" }]));
  expect(shape({ type: "Stalled", reason: "ResizePending" }, restarts)).toBe("attention");
  expect(shape({ type: "Stalled", reason: "NoCapacity" }, { name: "stalled" })).toBe("stalled");
});
