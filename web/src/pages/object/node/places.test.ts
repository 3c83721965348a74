import { expect, test } from "vitest";
import type { Objects } from "../../../api/types";
import { kindOf } from "../../../kinds/registry";
import { changeOf, deletedBy, placesOf, turned, wantedOf, type Wishes } from "./places";

const kind = kindOf("nodes");
if (!kind) throw new Error("there is no kind");
const target = { kind, namespace: undefined, name: "n", uid: "0-1" };

const metadata = { uid: "0-1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const node = (labels: Record<string, string>) => ({ apiVersion: "v1", kind: "Node", metadata: { ...metadata, name: "n", labels } }) as Objects["nodes"];
const pool = (name: string, spec: object = {}) => ({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { ...metadata, name }, spec }) as Objects["nodepools"];
const pod = (...tolerations: object[]) => ({ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "p" }, spec: { tolerations } }) as Objects["pods"];

const role = "node-role.kubernetes.io/";
const there = node({ [`${role}edge`]: "true", [`${role}gpu`]: "", "nodepool.node-restriction.kubernetes.io/old": "" });
const pools = [pool("old"), pool("gpu", { nodeSelector: { matchLabels: { gpu: "yes" } } }), pool("edge"), pool("spot"), pool("auto", { nodeCIDRs: ["192.0.2.0/24"] })];
const places = placesOf(there, pools, [{ by: "Pool", pool: "gpu", key: `label ${role}gpu`, value: "", message: "" }]);

test("a role label that a pool has set is its choice, and that of others is theirs", () => {
  expect(places.map(({ name, by }) => [name, by])).toEqual([["auto", undefined], ["edge", "label"], ["gpu", "selection"], ["old", "selection"], ["spot", undefined]]);
});

test("what is chosen is one write of role labels, and is taken back by another", () => {
  expect(changeOf(target, there, places, new Set(["edge", "gpu"]))).toBeUndefined();
  const change = changeOf(target, there, places, new Set(["auto", "spot"]));
  expect([change?.order.body, change?.undo.body]).toEqual([
    { metadata: { labels: { [`${role}auto`]: "true", [`${role}edge`]: null, [`${role}spot`]: "" } } },
    { metadata: { labels: { [`${role}auto`]: null, [`${role}edge`]: "true", [`${role}spot`]: null } } },
  ]);
  expect(change?.order.kubectl).toBe(`kubectl label node n ${role}auto=true ${role}edge- ${role}spot=`);
  expect(change?.order.path).toContain("uid=0-1&fieldManager=windlass-console-pools");
});

test("a pool that was chosen is not left because the node is in it by now", () => {
  const at = (labels: Record<string, string>) => { const now = node(labels); const [edge] = placesOf(now, [pool("edge")], []); if (!edge) throw new Error("there is no place"); return { now, edge }; };
  const [outside, inside] = [at({}), at({ [`${role}edge`]: "" })];
  const written = ({ now, edge }: typeof outside, wishes: Wishes) => changeOf(target, now, [edge], wantedOf([edge], wishes))?.order.body;
  const chosen = turned(new Map(), outside.edge);
  expect(written(outside, chosen)).toEqual({ metadata: { labels: { [`${role}edge`]: "" } } });
  expect(written(inside, chosen), "the label landed, and its answer was lost").toBeUndefined();
  expect(written(inside, turned(chosen, inside.edge)), "its reader turns the box again").toEqual({ metadata: { labels: { [`${role}edge`]: null } } });
  expect(written(inside, turned(turned(new Map(), outside.edge), outside.edge)), "a box that was turned twice is no choice").toBeUndefined();
});

test.each([
  ["no toleration", [], true],
  ["all tolerations", [{ operator: "Exists" }], false],
  ["the key", [{ key: "gpu", operator: "Exists" }], false],
  ["the value", [{ key: "gpu", value: "a" }], false],
  ["another value", [{ key: "gpu", value: "b" }], true],
  ["another effect", [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }], true],
  ["a while", [{ key: "gpu", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }], true],
])("a pod that tolerates %s is deleted by a taint: %j", (_, tolerations, deleted) => {
  const [place] = placesOf(there, [pool("a", { taints: [{ key: "gpu", value: "a", effect: "NoExecute" }, { key: "soft", effect: "NoSchedule" }] })], []);
  expect(place && deletedBy(place, [pod(...tolerations)]).length).toBe(deleted ? 1 : 0);
});
