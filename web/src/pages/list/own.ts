import type { Objects } from "../../api/types";
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

/** What the values of a column are made of, beside the node. Who does not see all pods has no pods here: their sums would be wrong, and the cells do not show them. */
export interface Around {
  pods: readonly Objects["pods"][] | undefined;
  pools: readonly Objects["nodepools"][];
}

/** What a column that the console adds is sorted by: how full a node is, not how large. */
export function ownValue(column: string, node: Node | undefined, { pods, pools }: Around): string | number | undefined {
  if (!node) return undefined;
  const resource = resources[column];
  if (resource) {
    const { requested, allocatable } = pods ? requestedOf(node, pods, resource) : { requested: 0, allocatable: 0 };
    return allocatable > 0 ? requested / allocatable : undefined;
  }
  return column === "Pools" ? Object.keys(tiesOf(node, pools).ties).join(" ") : taintsOf(node).join(" ");
}
