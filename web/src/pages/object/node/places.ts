import { refusing } from "../../../actions/clash";
import { type Order, quoted, type Target } from "../../../actions/commands";
import { objectPath } from "../../../api/client";
import type { Explanation, Objects, Schemas } from "../../../api/types";

type Node = Objects["nodes"];
type Pool = Objects["nodepools"];
type Pod = Objects["pods"];
type Taint = Schemas["Taint"];

export const roleOf = (pool: string): string => `node-role.kubernetes.io/${pool}`;

/** How a node stands to a pool: somebody has put it there with the role label, the pool has selected it, or it is not in it. */
export interface Place {
  pool: Pool;
  name: string;
  by: "label" | "selection" | undefined;
  /** Taints that the pool would put on the node. */
  taints: readonly Taint[];
}

/** The pools that are not being deleted, by name, each with how the node stands to it. Who has set a role label comes from the server. */
export function placesOf(node: Node, pools: readonly Pool[], origins: NonNullable<Explanation["origins"]>): Place[] {
  const labels = node.metadata.labels ?? {};
  const byPools = new Set(origins.filter(({ by }) => by === "Pool").map(({ key }) => key));
  return pools.filter(({ metadata }) => !metadata.deletionTimestamp).map((pool): Place => {
    const name = pool.metadata.name ?? "";
    const role = roleOf(name);
    const member = pool.status?.memberLabel ?? `nodepool.node-restriction.kubernetes.io/${name}`;
    const by = role in labels && !byPools.has(`label ${role}`) ? "label" : role in labels || member in labels ? "selection" : undefined;
    return { pool, name, by, taints: pool.spec?.taints ?? [] };
  }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The value of a role label that somebody sets: Windlass gives its own none, so that in a pool which also selects nodes this one is told apart. */
function valueOf({ spec }: Pool): string {
  return spec?.nodeSelector !== undefined || (spec?.nodeCIDRs ?? []).length > 0 ? "true" : "";
}

/** Puts the node into some pools and takes it out of others, in one write. */
export function setPools(target: Target, labels: Readonly<Record<string, string | null>>): Order {
  const words = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => (value === null ? `${quoted(key)}-` : quoted(`${key}=${value}`)));
  return {
    path: refusing(`/v1${objectPath("nodes", undefined, target.name)}?uid=${encodeURIComponent(target.uid)}&fieldManager=windlass-console-pools`),
    method: "PATCH", type: "application/merge-patch+json", body: { metadata: { labels } },
    kubectl: ["kubectl label node", quoted(target.name), ...words].join(" "),
  };
}

/** Whether the node is to be in a pool, by the pool's name, where a reader has chosen it: what the node becomes meanwhile changes no choice. */
export type Wishes = ReadonlyMap<string, boolean>;

/** The pools in which the node is to be: what nobody has chosen stays as it is. */
export function wantedOf(places: readonly Place[], wishes: Wishes): Set<string> {
  return new Set(places.filter(({ name, by }) => wishes.get(name) ?? by === "label").map(({ name }) => name));
}

/** The wishes after a reader has turned the box of a pool. What the node is already needs no wish. */
export function turned(wishes: Wishes, { name, by }: Place): Wishes {
  const there = by === "label";
  const wish = !(wishes.get(name) ?? there);
  const after = new Map(wishes);
  if (wish === there) after.delete(name);
  else after.set(name, wish);
  return after;
}

/** What is to be written, and what takes it back; undefined where nothing is chosen otherwise than it is. */
export function changeOf(target: Target, node: Node, places: readonly Place[], wanted: ReadonlySet<string>): { order: Order; undo: Order } | undefined {
  const changed = places.filter(({ name, by }) => by !== "selection" && wanted.has(name) !== (by === "label"));
  if (changed.length === 0) return undefined;
  const before = node.metadata.labels ?? {};
  return {
    order: setPools(target, Object.fromEntries(changed.map(({ pool, name }) => [roleOf(name), wanted.has(name) ? valueOf(pool) : null]))),
    undo: setPools(target, Object.fromEntries(changed.map(({ name }) => [roleOf(name), before[roleOf(name)] ?? null]))),
  };
}

/** Whether a pod tolerates a taint, as Kubernetes has it. One that does so for a while only does not. */
function tolerates({ spec }: Pod, taint: Taint): boolean {
  return (spec?.tolerations ?? []).some(({ key = "", operator = "Equal", value = "", effect = "", tolerationSeconds }) =>
    tolerationSeconds === undefined && (key === taint.key || (key === "" && operator === "Exists")) && (effect === "" || effect === taint.effect) && (operator === "Exists" || value === (taint.value ?? "")));
}

/** The pods of the node that a pool would have deleted: a taint with the effect NoExecute does so with those that do not tolerate it. */
export function deletedBy({ taints }: Place, pods: readonly Pod[]): Pod[] {
  const hard = taints.filter(({ effect }) => effect === "NoExecute");
  return pods.filter((pod) => hard.some((taint) => !tolerates(pod, taint)));
}
