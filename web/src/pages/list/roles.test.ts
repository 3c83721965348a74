import { expect, test } from "vitest";
import type { Objects } from "../../api/types";
import { rolesOf } from "./roles";

function node(name: string, cpu: string, ...roles: string[]): Objects["nodes"] {
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z", labels: Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ""])) }, status: { allocatable: { cpu } } } as Objects["nodes"];
}

test("roles are told by how many nodes have them, and the control plane is none", () => {
  expect(rolesOf([node("a", "4", "edge"), node("b", "16", "edge", "gpu"), node("c", "8", "control-plane"), node("d", "8")])).toEqual([
    { name: "edge", nodes: 2, shared: 1, least: "4", most: "16" }, { name: "gpu", nodes: 1, shared: 1, least: "16", most: "16" },
  ]);
});
