import { expect, test } from "vitest";
import type { Objects } from "../../../api/types";
import { selects } from "../../../kinds/selector";
import { usersOf } from "./Users";

const metadata = { uid: "0-1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const namespace = (name: string, labels: Record<string, string>) => ({ apiVersion: "v1", kind: "Namespace", metadata: { ...metadata, name, labels } }) as Objects["namespaces"];
const pod = (of: string, runtimeClassName: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "p", namespace: of }, spec: { runtimeClassName } }) as Objects["pods"];
const pool = (spec: object, name = "gpu") => ({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { ...metadata, name }, spec }) as Objects["nodepools"];

const namespaces = [namespace("web", {}), namespace("ml", { team: "ml" }), namespace("kube-system", { team: "ml" }), namespace("lab", { team: "ml" })];

test("who may use a pool comes first, with how many pods do and for whom it is the default", () => {
  const restricted = pool({ allowedNamespaces: { from: "Selector", selector: { matchLabels: { team: "ml" } } }, defaultFor: { namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] } } });
  expect(usersOf(restricted, [restricted, pool({ defaultFor: { namespaceSelector: { matchLabels: { team: "ml" } } } }, "z")], namespaces, [pod("lab", "gpu"), pod("lab", "gpu"), pod("web", "gpu"), pod("ml", "edge")])).toEqual([
    { name: "lab", may: true, byDefault: true, pods: 2 }, { name: "kube-system", may: true, byDefault: false, pods: 0 },
    { name: "ml", may: true, byDefault: true, pods: 0 }, { name: "web", may: false, byDefault: false, pods: 1 },
  ]);
  const other = pool({ defaultFor: { namespaceSelector: { matchLabels: { team: "ml" } } } }, "z");
  expect(usersOf(pool({}), [pool({})], namespaces, []).every(({ may, byDefault }) => may && !byDefault)).toBe(true);
  expect(usersOf(other, [restricted, other], namespaces, []).some(({ byDefault }) => byDefault)).toBe(false);
});

test.each([
  [{}, true],
  [{ matchLabels: { a: "1" } }, true],
  [{ matchLabels: { a: "2" } }, false],
  [{ matchExpressions: [{ key: "a", operator: "In", values: ["1", "2"] }] }, true],
  [{ matchExpressions: [{ key: "b", operator: "In", values: ["1"] }] }, false],
  [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] }, false],
  [{ matchExpressions: [{ key: "b", operator: "NotIn", values: ["1"] }] }, true],
  [{ matchExpressions: [{ key: "b", operator: "Exists" }] }, false],
  [{ matchExpressions: [{ key: "b", operator: "DoesNotExist" }] }, true],
  [{ matchExpressions: [{ key: "a", operator: "Alike" }] }, false],
])("%j selects {a: 1}: %s", (selector, selected) => expect(selects(selector, { a: "1" })).toBe(selected));
