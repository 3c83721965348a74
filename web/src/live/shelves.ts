import type { Objects, Plural } from "../api/types";

/** The objects of each kind by their keys. */
export type Shelves = { [K in Plural]: Map<string, Objects[K]> };

/** Since when what the server tells of these kinds may be old. */
export interface Late {
  since: number;
  kinds: readonly string[];
}

export function shelves(): Shelves {
  return {
    nodes: new Map(), nodepools: new Map(), podsets: new Map(), deployments: new Map(), services: new Map(), pods: new Map(),
    virtualmachines: new Map(), clusters: new Map(), kubeconfigs: new Map(), podbuggertools: new Map(), namespaces: new Map(), events: new Map(),
  };
}
