import type { Objects } from "../../api/types";
import { cores, quantity } from "../../status/quantity";

const prefix = "node-role.kubernetes.io/";

/** A role that nodes have, which would be a pool of its name. */
export interface Role {
  name: string;
  nodes: number;
  /** Nodes that have another role as well. */
  shared: number;
  /** Processors of the smallest and of the largest node. */
  least: string;
  most: string;
}

/** The roles of nodes, by size and then by name. The control plane is none that pods should choose. */
export function rolesOf(nodes: readonly Objects["nodes"][]): Role[] {
  const found = new Map<string, { nodes: number; shared: number; cpus: number[] }>();
  for (const node of nodes) {
    const names = Object.keys(node.metadata.labels ?? {}).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])).filter((name) => name !== "" && name !== "control-plane" && name !== "master");
    for (const name of names) {
      const role = found.get(name) ?? { nodes: 0, shared: 0, cpus: [] };
      role.nodes++;
      if (names.length > 1) role.shared++;
      role.cpus.push(quantity(node.status?.allocatable?.["cpu"]));
      found.set(name, role);
    }
  }
  return [...found.entries()]
    .map(([name, { cpus, ...of }]) => ({ name, ...of, least: cores(Math.min(...cpus)), most: cores(Math.max(...cpus)) }))
    .sort((a, b) => b.nodes - a.nodes || (a.name < b.name ? -1 : 1));
}
