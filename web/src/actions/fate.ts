import type { KubeObject, Objects, Plural } from "../api/types";
import type { Key, Values } from "../i18n";
import { gibi, quantity } from "../status/quantity";
import type { Target } from "./commands";

/** One thing that goes with an object, or stays. */
export interface Fate {
  goes: boolean;
  key: Key;
  values?: Values;
}

/** What is lost for good. */
export interface Loss {
  key: Key;
  values?: Values;
}

/** What a deletion means: what goes and what stays, and what is lost for good, which takes a tick. */
export interface Deletion {
  about?: Key;
  fates: readonly Fate[];
  loss?: Loss;
  /** Whether the object can be told to leave everything as it is. */
  keepable?: "Retain" | "Orphan";
}

type Of<K extends Plural> = (object: Objects[K]) => Deletion;

function goes(key: Key, values?: Values): Fate {
  return values ? { goes: true, key, values } : { goes: true, key };
}
function stays(key: Key, values?: Values): Fate {
  return values ? { goes: false, key, values } : { goes: false, key };
}

const virtualmachines: Of<"virtualmachines"> = ({ metadata, spec, status }) => {
  const image = spec?.image?.name ?? "";
  const disks = spec?.disks ?? [];
  if (spec?.deletionPolicy === "Retain") return { about: "delete.vm.retain", fates: [stays("delete.vm.machine", { name: metadata.name ?? "", host: status?.server?.host ?? "?" })] };
  const guest = (status?.server?.driver ?? spec?.driver) === "libvirt";
  const root = spec?.resource?.["rootDisk"];
  const made = disks.filter((disk) => disk.size !== undefined && disk.size !== null);
  const bytes = [...(guest && root !== undefined ? [root] : []), ...made.map((disk) => disk.size)].reduce<number>((sum, size) => sum + quantity(size), 0);
  return {
    about: "delete.vm.about", keepable: "Retain",
    fates: [
      goes("delete.vm.machine", { name: metadata.name ?? "", host: status?.server?.host ?? "?" }),
      ...(guest ? [goes("delete.vm.root", { size: root === undefined ? "?" : gibi(quantity(root)), image })] : [goes("delete.vm.files")]),
      ...made.map((disk) => goes("delete.vm.disk", { name: disk.name, size: gibi(quantity(disk.size)) })),
      ...disks.filter((disk) => disk.source !== undefined).map((disk) => stays("delete.vm.attached", { name: disk.name })),
      ...(image === "" ? [] : [stays("delete.vm.image", { image })]),
    ],
    loss: bytes > 0 ? { key: "delete.vm.loss", values: { size: gibi(bytes) } } : { key: "delete.vm.lossFiles" },
  };
};

const clusters: Of<"clusters"> = ({ metadata, spec, status }) => {
  const name = metadata.name ?? "";
  if (spec?.deletionPolicy === "Orphan") return { about: "delete.cluster.orphan", fates: [stays("delete.cluster.self", { name, count: status?.nodes?.desired ?? "?" })] };
  return {
    about: "delete.cluster.about", keepable: "Orphan",
    fates: [goes("delete.cluster.self", { name, count: status?.nodes?.desired ?? "?" }), goes("delete.cluster.inside"), goes("delete.cluster.access"), stays("delete.cluster.machines")],
    loss: { key: "delete.cluster.loss", values: { name } },
  };
};

const nodepools: Of<"nodepools"> = ({ spec, status }) => {
  const count = status?.nodeCount ?? 0;
  const nodes = stays("delete.pool.nodes", { count });
  if (spec?.deletionPolicy === "Orphan") return { about: "delete.pool.orphan", fates: [goes("delete.pool.class"), stays("delete.pool.keys", { count }), nodes] };
  const evicts = spec?.drain?.policy === "Evict" && count > 0;
  return {
    about: "delete.pool.about",
    fates: [goes("delete.pool.class"), goes("delete.pool.keys", { count }), ...(evicts ? [goes("delete.pool.pods", { count })] : [stays("delete.pool.pods", { count })]), nodes],
    ...(evicts ? { loss: { key: "delete.pool.loss" as const } } : {}),
  };
};

function ofPods(count: number, images: Fate[]): Deletion {
  return { fates: [goes("delete.pods", { count }), ...images], ...(count > 0 ? { loss: { key: "delete.pods.loss" as const, values: { count } } } : {}) };
}

const podsets: Of<"podsets"> = ({ status }) => ofPods(status?.replicas ?? 0, [stays("delete.images")]);
const deployments: Of<"deployments"> = ({ status }) => ofPods(status?.replicas ?? 0, [stays("delete.service"), stays("delete.images")]);

const pods: Of<"pods"> = ({ metadata }) => {
  const owner = metadata.ownerReferences?.find((each) => each.controller === true);
  return owner
    ? { about: "delete.pod.replaced", fates: [goes("delete.pod.files"), stays("delete.pod.owner", { name: `${owner.kind} ${owner.name}` })] }
    : { fates: [goes("delete.pod.files")], loss: { key: "delete.pods.loss", values: { count: 1 } } };
};

const services: Of<"services"> = ({ spec }) => ({ about: "delete.service.about", fates: [goes("delete.service.address", { address: spec?.clusterIP ?? "?" }), stays("delete.service.pods")] });
const kubeconfigs: Of<"kubeconfigs"> = () => ({ about: "delete.kubeconfig.about", fates: [goes("delete.kubeconfig.secret"), stays("delete.kubeconfig.cluster")] });
const podbuggertools: Of<"podbuggertools"> = () => ({ fates: [stays("delete.tool.containers"), stays("delete.tool.pods")] });
const nodes: Of<"nodes"> = ({ metadata }) => ({ about: "delete.node.about", fates: [goes("delete.node.pods"), stays("delete.node.machine")], loss: { key: "delete.node.loss", values: { name: metadata.name ?? "" } } });
const namespaces: Of<"namespaces"> = ({ metadata }) => ({ about: "delete.namespace.about", fates: [goes("delete.namespace.all")], loss: { key: "delete.namespace.loss", values: { name: metadata.name ?? "" } } });

const all: { [K in Plural]?: Of<K> } = { virtualmachines, clusters, nodepools, podsets, deployments, pods, services, kubeconfigs, podbuggertools, nodes, namespaces };

/** What deleting the object means, as its spec and status say. */
export function deletionOf(plural: Plural, object: KubeObject): Deletion {
  // The store has objects under their kind, so this function gets what it says.
  const of: ((object: never) => Deletion) | undefined = all[plural];
  return of ? of(object as never) : { fates: [] };
}

/** The same of an object that is perhaps out of sight: its kind then says whether something can be lost. */
export function deletionAt({ kind, namespace, name }: Pick<Target, "kind" | "namespace" | "name">, object: KubeObject | undefined): Deletion {
  if (object) return deletionOf(kind.plural, object);
  const loses = ["virtualmachines", "clusters", "namespaces"].includes(kind.plural);
  return { fates: [], ...(loses ? { loss: { key: "confirm.loss" as const, values: { name: namespace ? `${namespace}/${name}` : name } } } : {}) };
}

/** Whether who has ticked one loss has also ticked another: one of as many or fewer. What is not counted has to be the same. */
export function coversLoss(ticked: Loss | undefined, loss: Loss): boolean {
  if (ticked?.key !== loss.key) return false;
  const before = ticked.values ?? {};
  return Object.entries(loss.values ?? {}).every(([name, now]) => {
    const then = before[name];
    return then === now || (name === "count" && typeof then === "number" && typeof now === "number" && now < then);
  });
}

/** What is lost with several: the same with its numbers added up, or else with how many of them something is lost. */
export function lossOf(deletions: readonly Deletion[]): Loss | undefined {
  const losses = deletions.flatMap(({ loss }) => loss ?? []);
  const [first] = losses;
  if (!first || losses.length === 1) return first;
  const counts = losses.map(({ key, values }) => (key === first.key ? values?.["count"] : undefined));
  return counts.every((count): count is number => typeof count === "number")
    ? { key: first.key, values: { count: counts.reduce((sum, count) => sum + count, 0) } }
    : { key: "bulk.loss", values: { count: losses.length } };
}
