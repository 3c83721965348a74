import type { Key } from "../i18n";
import type { KubeObject, Objects, Plural } from "../api/types";
import { sumOf } from "../status/podsum";
import { cores, gibi, quantity } from "../status/quantity";
import { pageOf } from "./registry";
import { labelText, selectorText } from "./selector";

export interface Fact {
  key: Key;
  value?: string;
  /** A time, in place of a value: it is shown in the zone of the reader. */
  time?: string;
  code?: boolean;
  to?: string;
  chips?: readonly string[];
}

type Of<K extends Plural> = (object: Objects[K]) => (Fact | undefined)[];

function fact(key: Key, value: string | number | undefined | null, more: Omit<Fact, "key" | "value"> = {}): Fact | undefined {
  return value === undefined || value === null || value === "" ? undefined : { key, value: String(value), ...more };
}

function sizes(of: Record<string, string | number> | undefined): string | undefined {
  return of && `${cores(quantity(of["cpu"]))} CPU, ${gibi(quantity(of["memory"]))}${of["pods"] === undefined ? "" : `, ${of["pods"]} pods`}`;
}

function images(spec: { containers?: readonly { image?: string }[] } | undefined): string | undefined {
  return spec?.containers?.map((container) => container.image).join(", ");
}

const nodes: Of<"nodes"> = (node) => [
  { key: "fact.pools", chips: Object.keys(node.metadata.labels ?? {}).filter((key) => key.startsWith("nodepool.node-restriction.kubernetes.io/")).map((key) => key.slice(key.indexOf("/") + 1)) },
  fact("fact.allocatable", sizes(node.status?.allocatable)),
  fact("fact.address", node.status?.addresses?.filter((address) => address.type === "InternalIP").map((address) => address.address).join(", ")),
  fact("fact.version", node.status?.nodeInfo?.kubeletVersion),
  fact("fact.os", node.status?.nodeInfo?.osImage),
  fact("fact.zone", node.metadata.labels?.["topology.kubernetes.io/zone"]),
  // The default handler has no name.
  fact("fact.handlers", node.status?.runtimeHandlers?.map(({ name }) => name).filter(Boolean).join(", ")),
  { key: "fact.taints", chips: (node.spec?.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`) },
];

/** Whose pods may choose a pool; an empty selector selects all namespaces. */
function allowed(namespaces: NonNullable<Objects["nodepools"]["spec"]>["allowedNamespaces"]): Fact | undefined {
  const selector = namespaces?.from === "Selector" ? selectorText(namespaces.selector) : undefined;
  return selector ? fact("fact.namespaces", selector, { code: true }) : fact("fact.namespaces", namespaces && "All");
}

const nodepools: Of<"nodepools"> = ({ spec, status }) => [
  fact("fact.members", `${status?.readyNodeCount ?? 0} / ${status?.nodeCount ?? 0}`),
  fact("fact.allocatable", sizes(status?.allocatable)),
  fact("fact.handler", status?.handler ?? spec?.handler),
  fact("fact.selector", selectorText(spec?.nodeSelector), { code: true }),
  fact("fact.cidrs", spec?.nodeCIDRs?.join(", "), { code: true }),
  fact("fact.taints", spec?.taints?.map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`).join(", "), { code: true }),
  fact("fact.rollout", spec?.rollout && `${spec.rollout.maxConcurrent}`),
  fact("fact.drain", spec?.drain?.policy),
  allowed(spec?.allowedNamespaces),
  fact("fact.defaultFor", selectorText(spec?.defaultFor?.namespaceSelector), { code: true }),
  fact("fact.priority", spec?.priority),
  fact("fact.overwrite", spec?.overwrite),
];

const podsets: Of<"podsets"> = ({ spec, status }) => [
  fact("fact.pool", spec?.nodePool, spec?.nodePool ? { to: pageOf("nodepools", undefined, spec.nodePool) } : {}),
  fact("fact.size", `${spec?.size ?? 0}`),
  fact("fact.available", `${status?.availableReplicas ?? 0} / ${spec?.size ?? 0}`),
  fact("fact.strategy", spec?.strategy?.type),
  fact("fact.image", images(spec?.template?.spec)),
  fact("fact.selector", status?.selector, { code: true }),
];

const deployments: Of<"deployments"> = ({ spec, status }) => [
  fact("fact.available", `${status?.availableReplicas ?? 0} / ${spec?.replicas ?? 1}`),
  fact("fact.strategy", spec?.strategy?.type),
  fact("fact.image", images(spec?.template?.spec)),
  fact("fact.selector", selectorText(spec?.selector), { code: true }),
];

const pods: Of<"pods"> = (pod) => {
  const { spec, status } = pod;
  return [
    fact("fact.node", spec?.nodeName, spec?.nodeName ? { to: pageOf("nodes", undefined, spec.nodeName) } : {}),
    fact("fact.ip", status?.podIP),
    fact("fact.containers", spec?.containers?.map((container) => container.name).join(", ")),
    fact("fact.image", images(spec)),
    fact("fact.restarts", sumOf(pod).restarts),
    fact("fact.qos", status?.qosClass),
  ];
};

const virtualmachines: Of<"virtualmachines"> = ({ spec, status }) => [
  fact("fact.driver", status?.server?.driver ?? spec?.driver),
  fact("fact.host", status?.server?.host),
  fact("fact.size", spec?.resource && Object.entries(spec.resource).map(([name, value]) => `${String(value)} ${name}`).join(", ")),
  fact("fact.image", spec?.image?.name),
  fact("fact.address", status?.server?.addresses?.join(", ")),
  fact("fact.ports", status?.server?.ports?.map((port) => `${port.hostIP ?? ""}:${port.hostPort ?? "?"} → ${port.port}/${port.protocol ?? "TCP"}`).join(", ")),
  fact("fact.onHost", status?.server?.name, { code: true }),
  fact("fact.restarts", status?.restartCount),
  fact("fact.whenDeleted", spec?.deletionPolicy),
];

/** Where the configuration of a cluster is. */
function source(spec: Objects["clusters"]["spec"]): string | undefined {
  const { secretRef, configMapRef, inline } = spec?.config ?? {};
  if (secretRef) return `Secret ${secretRef.namespace}/${secretRef.name}, ${secretRef.key}`;
  if (configMapRef) return `ConfigMap ${configMapRef.namespace}/${configMapRef.name}, ${configMapRef.key}`;
  return inline ? "spec.config.inline" : spec?.configPath;
}

const clusters: Of<"clusters"> = ({ spec, status }) => [
  fact("fact.from", source(spec), { code: true }),
  fact("fact.tool", [spec?.provisioner, status?.toolVersion].filter(Boolean).join(" ")),
  fact("fact.version", status?.kubernetesVersion),
  fact("fact.nodes", status?.nodes && `${status.nodes.ready ?? 0} / ${status.nodes.desired ?? 0}`),
  fact("fact.endpoint", status?.endpoint, { code: true }),
  fact("fact.stage", status?.lastOperation?.stage),
  fact("fact.approval", spec?.approval),
  fact("fact.whenDeleted", spec?.deletionPolicy),
];

const services: Of<"services"> = ({ spec }) => [
  fact("fact.type", spec?.type),
  fact("fact.clusterIP", spec?.clusterIP),
  fact("fact.ports", spec?.ports?.map((port) => `${port.port}/${port.protocol ?? "TCP"}`).join(", ")),
  fact("fact.selector", labelText(spec?.selector), { code: true }),
];

const kubeconfigs: Of<"kubeconfigs"> = ({ spec, status }) => [
  fact("fact.type", spec?.type ?? "Admin"),
  fact("fact.cluster", spec?.clusterRef?.name, spec?.clusterRef ? { to: pageOf("clusters", undefined, spec.clusterRef.name) } : {}),
  fact("fact.role", spec?.type === "ServiceAccountToken" ? spec.clusterRole : undefined),
  fact("fact.account", status?.serviceAccount, { code: true }),
  fact("fact.server", status?.server, { code: true }),
  fact("fact.secret", status?.secretRef && `${status.secretRef.namespace}/${status.secretRef.name}`, { code: true }),
  status?.expiresAt ? { key: "fact.expires", time: status.expiresAt } : undefined,
];

const podbuggertools: Of<"podbuggertools"> = ({ spec }) => [
  fact("fact.image", spec?.image),
  fact("fact.command", (spec?.command ?? ["sh"]).join(" "), { code: true }),
  fact("fact.selector", spec?.label ?? selectorText(spec?.selector), { code: true }),
  fact("fact.target", spec?.targetContainer),
  fact("fact.most", spec?.maxPods ?? 50),
];

const all: { [K in Plural]?: Of<K> } = { nodes, nodepools, podsets, deployments, pods, virtualmachines, clusters, services, kubeconfigs, podbuggertools };

/** The facts about an object that its page shows. Nothing is made up: what is not there is left out. */
export function factsOf(plural: Plural, object: KubeObject): Fact[] {
  // The store has objects under their kind, so this function gets what it says.
  const of: ((object: never) => (Fact | undefined)[]) | undefined = all[plural];
  return of === undefined ? [] : of(object as never).filter((each) => each !== undefined);
}
