import { expect, test } from "vitest";
import { kindOf } from "../kinds/registry";
import { deedsOf } from "./list";

/** What takes back a deed with an object. */
function undo(plural: string, key: string, object: { spec?: object; status?: object; annotations?: Record<string, string> }) {
  const kind = kindOf(plural);
  if (!kind) throw new Error(`there is no kind ${plural}`);
  const { annotations = {}, ...rest } = object;
  const deed = deedsOf({ kind, namespace: "ci", name: "a", uid: "0-1" }, { metadata: { name: "a", annotations }, ...rest }).find((each) => each.key === key);
  return { body: deed?.undo?.body, kubectl: deed?.undo?.kubectl };
}

test.each([
  ["action.stop", "Once", { state: "on", runStrategy: "Once" }, "Once"],
  ["action.stop", "RerunOnFailure", { state: "on", runStrategy: "RerunOnFailure" }, "RerunOnFailure"],
  ["action.stop", undefined, { state: "on" }, "Always"],
  ["action.suspend", "Once", { state: "resume", runStrategy: "Once" }, "Once"],
  ["action.start", "Halted", { state: "off" }, "Halted"],
  ["action.wake", "Suspended", { state: "suspend" }, "Suspended"],
] as const)("%s of a machine with the run strategy %s is taken back", (key, runStrategy, body, after) => {
  expect(undo("virtualmachines", key, { spec: runStrategy ? { runStrategy } : {} })).toEqual({
    body, kubectl: `kubectl patch virtualmachine a -n ci --type=merge -p '{"spec":{"runStrategy":"${after}"}}'`,
  });
});

const paused = { status: { conditions: [{ type: "Paused", status: "True" }] } };

test.each([
  ["until a time", "2030-01-31T18:00:00Z", { until: "2030-01-31T18:00:00Z" }, "2030-01-31T18:00:00Z"],
  ["until somebody ends it", "true", undefined, "true"],
  ["with a value that means nothing", "7", undefined, "true"],
])("a pause %s is as it was when Resume is taken back", (_, value, body, after) => {
  expect(undo("virtualmachines", "action.resume", { ...paused, annotations: { "windlass.io/paused": value } })).toEqual({
    body, kubectl: `kubectl annotate virtualmachine a -n ci windlass.io/paused=${after}`,
  });
});

test("a pause in the spec has no time", () => {
  expect(undo("podsets", "action.resume", { spec: { paused: true }, annotations: { "windlass.io/paused": "2030-01-31T18:00:00Z" } }).body).toBeUndefined();
});

test.each([
  ["its first template", { "deployment.kubernetes.io/revision": "1" }, {}, false],
  ["an earlier template", { "deployment.kubernetes.io/revision": "2" }, {}, true],
  ["an earlier template, held", { "deployment.kubernetes.io/revision": "2" }, { paused: true }, false],
])("a Deployment with %s", (_, annotations, spec, goesBack) => {
  const kind = kindOf("deployments");
  if (!kind) throw new Error("there is no kind");
  const has = (metadata: object) => deedsOf({ kind, namespace: "ci", name: "a", uid: "0-1" }, { metadata: { name: "a", annotations, ...metadata }, spec }).some(({ key }) => key === "action.rollback");
  expect([has({}), has({ ownerReferences: [{ kind: "PodSet" }] })]).toEqual([goesBack, false]);
});

test.each([
  ["is there", {}, ["action.pause", true]],
  ["is paused", { paused: true }, ["action.resume", true]],
  ["is being deleted", { deleted: true }, [undefined, false]],
  ["is paused and being deleted", { deleted: true, paused: true }, ["action.resume", false]],
])("what can be done about the pause of a Cluster that %s, and taken back", (_, { deleted = false, paused = false }: { deleted?: boolean; paused?: boolean }, want) => {
  const kind = kindOf("clusters");
  if (!kind) throw new Error("there is no kind");
  const deed = deedsOf({ kind, namespace: undefined, name: "a", uid: "0-1" }, {
    metadata: { name: "a", ...(deleted ? { deletionTimestamp: "2030-01-31T18:00:00Z" } : {}) },
    status: { conditions: paused ? [{ type: "Paused", status: "True" }] : [] },
  }).find(({ key }) => key === "action.pause" || key === "action.resume");
  expect([deed?.key, deed?.undo !== undefined]).toEqual(want);
});

test.each([
  ["is there", undefined, false],
  ["is being deleted", "2030-01-31T18:00:00Z", true],
])("a Cluster that %s and whose tool skipped machines is let go by naming them", (_, deletionTimestamp, offered) => {
  const kind = kindOf("clusters");
  if (!kind) throw new Error("there is no kind");
  const deeds = deedsOf({ kind, namespace: undefined, name: "a", uid: "0-1" }, { metadata: { name: "a", ...(deletionTimestamp ? { deletionTimestamp } : {}) }, status: { skippedNodes: ["192.0.2.7", "192.0.2.8"] } });
  const deed = deeds.find(({ key }) => key === "action.accept");
  expect([deed?.order.body, deed?.values]).toEqual(offered ? [{ nodes: ["192.0.2.7", "192.0.2.8"] }, { count: 2, names: "192.0.2.7, 192.0.2.8" }] : [undefined, undefined]);
});
