import { expect, test } from "vitest";
import { kindOf, type Kind } from "../../kinds/registry";
import { grants } from "./grant";

function kind(plural: string): Kind {
  const known = kindOf(plural);
  if (!known) throw new Error(plural);
  return known;
}

test("a service account gets the viewer role of the kind", () => {
  expect(grants(kind("nodepools"), undefined, "system:serviceaccount:shop:dev")).toEqual([
    "kubectl create clusterrolebinding shop-dev-nodepools --clusterrole=windlass-nodepool-viewer --serviceaccount=shop:dev",
  ]);
});

test("in one namespace a role binding is enough", () => {
  expect(grants(kind("podsets"), "shop", "jane@example.com")).toEqual([
    "kubectl create rolebinding jane-example.com-podsets -n shop --clusterrole=windlass-podset-viewer --user=jane@example.com",
  ]);
});

test("a kind without a role of its own gets one first", () => {
  expect(grants(kind("clusters"), undefined, "it's me")).toEqual([
    "kubectl create clusterrole view-clusters --verb=get,list,watch --resource=clusters.clusterprovisioner.rke.io",
    "kubectl create clusterrolebinding it-s-me-clusters --clusterrole=view-clusters '--user=it'\\''s me'",
  ]);
});
