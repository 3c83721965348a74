import type { Plural } from "../api/types";
import type { Key } from "../i18n";

/** What the console knows of a kind without asking: a page for a further kind begins with a row here. */
export interface Kind {
  plural: Plural;
  /** Kind of the objects, and the name that kubectl takes. */
  kind: string;
  kubectl: string;
  namespaced: boolean;
  group: Key | undefined;
  /** Whether GET …/why explains it. */
  explained: boolean;
  /** The key that follows G. */
  key?: string;
}

export const kinds: readonly Kind[] = [
  { plural: "nodes", kind: "Node", kubectl: "node", namespaced: false, group: "group.nodes", explained: true, key: "n" },
  { plural: "nodepools", kind: "NodePool", kubectl: "nodepools.nodes.lailin.xyz", namespaced: false, group: "group.nodes", explained: true, key: "p" },
  { plural: "podsets", kind: "PodSet", kubectl: "podset", namespaced: true, group: "group.workloads", explained: true, key: "s" },
  { plural: "deployments", kind: "Deployment", kubectl: "deployment", namespaced: true, group: "group.workloads", explained: true, key: "d" },
  { plural: "services", kind: "Service", kubectl: "service", namespaced: true, group: "group.workloads", explained: false },
  { plural: "pods", kind: "Pod", kubectl: "pod", namespaced: true, group: "group.workloads", explained: true },
  { plural: "virtualmachines", kind: "VirtualMachine", kubectl: "virtualmachine", namespaced: true, group: "group.machines", explained: true, key: "v" },
  { plural: "clusters", kind: "Cluster", kubectl: "clusters.clusterprovisioner.rke.io", namespaced: false, group: "group.clusters", explained: true, key: "c" },
  { plural: "kubeconfigs", kind: "Kubeconfig", kubectl: "kubeconfig", namespaced: false, group: "group.clusters", explained: true },
  { plural: "podbuggertools", kind: "PodBuggerTool", kubectl: "podbuggertool", namespaced: true, group: "group.closer", explained: true },
  { plural: "namespaces", kind: "Namespace", kubectl: "namespace", namespaced: false, group: undefined, explained: false },
  { plural: "events", kind: "Event", kubectl: "event", namespaced: true, group: "group.closer", explained: false, key: "e" },
];

/** Kinds that the API writes. The others are shown. */
export const writable: readonly Plural[] = ["clusters", "deployments", "kubeconfigs", "namespaces", "nodepools", "nodes", "podbuggertools", "podsets", "services", "virtualmachines"];

/** Kinds whose objects are changed by a rehearsal and not by their text, which is there to read: a text that is saved at once would be a way round it. */
export const rehearsed: readonly Plural[] = ["nodepools"];

export function kindOf(plural: string): Kind | undefined {
  return kinds.find((kind) => kind.plural === plural);
}

/** The kind that objects refer to by its name, as events and owners do. */
export function kindNamed(name: string): Kind | undefined {
  return kinds.find((kind) => kind.kind === name);
}

/** The path of the page of an object. */
export function pageOf(plural: string, namespace: string | undefined, name: string): string {
  return "/" + [plural, ...(namespace ? [namespace] : []), name].map(encodeURIComponent).join("/");
}
