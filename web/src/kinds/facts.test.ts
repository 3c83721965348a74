import { expect, test } from "vitest";
import type { KubeObject } from "../api/types";
import { factsOf } from "./facts";
import { selectorText } from "./selector";

const pool = (spec: object) => ({ metadata: { name: "gpu" }, spec }) as KubeObject;
const values = (plural: Parameters<typeof factsOf>[0], object: KubeObject) => Object.fromEntries(factsOf(plural, object).map(({ key, value, time }) => [key, value ?? time]));

test("a selector is written as for kubectl, with its expressions", () => {
  expect(selectorText({ matchLabels: { team: "ml" }, matchExpressions: [{ key: "env", operator: "NotIn", values: ["dev", "test"] }, { key: "old", operator: "DoesNotExist" }] })).toBe("team=ml,env notin (dev,test),!old");
  expect([selectorText({}), selectorText(undefined)]).toEqual(["", undefined]);
});

test("a pool says who may use it, for whom it is the default, and how nodes become members", () => {
  expect(values("nodepools", pool({
    allowedNamespaces: { from: "Selector", selector: { matchLabels: { team: "ml" } } }, defaultFor: { namespaceSelector: { matchExpressions: [{ key: "env", operator: "In", values: ["dev"] }] } },
    nodeCIDRs: ["10.20.0.0/16"], nodeSelector: { matchExpressions: [{ key: "disk", operator: "Exists" }] },
  }))).toMatchObject({ "fact.namespaces": "team=ml", "fact.defaultFor": "env in (dev)", "fact.cidrs": "10.20.0.0/16", "fact.selector": "disk" });
  expect(values("nodepools", pool({ allowedNamespaces: { from: "All" } }))).toMatchObject({ "fact.namespaces": "All" });
  expect(values("nodepools", pool({ allowedNamespaces: { from: "Selector", selector: {} } }))).toMatchObject({ "fact.namespaces": "All" });
});

test("a cluster says where its configuration comes from", () => {
  const from = (spec: object) => values("clusters", pool(spec))["fact.from"];
  expect([
    from({ config: { secretRef: { namespace: "infra", name: "rke", key: "cluster.yml" } } }), from({ config: { configMapRef: { namespace: "infra", name: "rke", key: "c" } } }), from({ config: { inline: "nodes: []" } }), from({ configPath: "/etc/rke/a.yml" }),
  ]).toEqual(["Secret infra/rke, cluster.yml", "ConfigMap infra/rke, c", "spec.config.inline", "/etc/rke/a.yml"]);
});

test("when access ends is a time, for the zone of the reader", () => {
  expect(factsOf("kubeconfigs", { metadata: {}, status: { expiresAt: "2026-11-29T02:00:00Z" } } as KubeObject)).toContainEqual({ key: "fact.expires", time: "2026-11-29T02:00:00Z" });
});
