import type { KubeObject, Objects } from "../../api/types";
import { store } from "../../live/store";
import { type Requests, requestsByNode } from "../../map/requests";
import { tiesOf } from "../../map/ties";
import { quantity } from "../../status/quantity";

type Node = Objects["nodes"];

const counted = new WeakMap<readonly Objects["pods"][], Map<string, Requests>>();

/** What the pods of a node request, of what it has for them. It is added up once for all nodes, for as long as no pod changes. */
export function requestedOf(node: Node, pods: readonly Objects["pods"][], resource: "cpu" | "memory"): { requested: number; allocatable: number } {
  let all = counted.get(pods);
  if (!all) counted.set(pods, (all = requestsByNode(pods)));
  return { requested: all.get(node.metadata.name ?? "")?.[resource] ?? 0, allocatable: quantity(node.status?.allocatable?.[resource]) };
}

/** The columns of nodes that are about a resource. */
export const resources: Readonly<Record<string, "cpu" | "memory">> = { CPU: "cpu", Memory: "memory" };

export function taintsOf(node: Node): string[] {
  return (node.spec?.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
}

/** What a column that the console adds is sorted by: how full a node is, not how large. */
export function ownValue(column: string, object: KubeObject | undefined): string | number | undefined {
  const node = object && store.get("nodes", undefined, object.metadata.name ?? "");
  if (!node) return undefined;
  const resource = resources[column];
  if (resource) {
    const { requested, allocatable } = requestedOf(node, store.list("pods"), resource);
    return allocatable > 0 ? requested / allocatable : undefined;
  }
  return column === "Pools" ? Object.keys(tiesOf(node, store.list("nodepools")).ties).join(" ") : taintsOf(node).join(" ");
}
