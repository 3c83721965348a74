import type { Objects } from "../api/types";
import { quantity } from "../status/quantity";
import { conditionsOf } from "../status/status";
import { layout, type Layout, type Spot } from "./layout";

type Node = Objects["nodes"];
type Pool = Objects["nodepools"];
type Pod = Objects["pods"];

/** How a node stands to a pool. */
export type Tie = "has" | "waits" | "turn" | "leaves";

export interface MapNode extends Spot {
  node: Node;
  ties: Readonly<Record<string, Tie>>;
  notReady: boolean;
  unknown: boolean;
  cordoned: boolean;
  pressure: boolean;
  taint: "" | "hard" | "soft";
  /** The scarcer of CPU and memory that is requested, from 0 to 1; undefined where pods may not be listed. */
  level: number | undefined;
}

export interface PoolRow {
  name: string;
  pool: Pool;
  ready: number;
  total: number;
  cpu: { requested: number; allocatable: number };
  memory: { requested: number; allocatable: number };
  /** The node with most room, which the sums hide. */
  free: { cpu: number; memory: number } | undefined;
}

export interface NodeMapModel {
  layout: Layout<MapNode>;
  rows: readonly PoolRow[];
  measured: boolean;
}

export interface Requests { cpu: number; memory: number }

/** What the pods of each node request. Pods that have ended hold nothing. */
export function requestsByNode(pods: readonly Pod[]): Map<string, Requests> {
  const out = new Map<string, Requests>();
  for (const pod of pods) {
    const name = pod.spec?.nodeName;
    if (!name || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    const sum = out.get(name) ?? { cpu: 0, memory: 0 };
    for (const container of pod.spec?.containers ?? []) {
      sum.cpu += quantity(container.resources?.requests?.["cpu"]);
      sum.memory += quantity(container.resources?.requests?.["memory"]);
    }
    out.set(name, sum);
  }
  return out;
}

/** The pools of a node, by its labels: the member label once it carries the pool, the role label while it waits for that. */
export function tiesOf(node: Node, pools: readonly Pool[]): Record<string, Tie> {
  const labels = node.metadata.labels ?? {};
  const name = node.metadata.name ?? "";
  const out: Record<string, Tie> = {};
  for (const pool of pools) {
    const of = pool.metadata.name ?? "";
    const member = pool.status?.memberLabel ?? `nodepool.node-restriction.kubernetes.io/${of}`;
    if (pool.status?.draining?.some((draining) => draining.node === name)) out[of] = "leaves";
    else if (pool.status?.rollout?.nodes?.includes(name)) out[of] = "turn";
    else if (member in labels) out[of] = "has";
    else if (`node-role.kubernetes.io/${of}` in labels) out[of] = "waits";
  }
  return out;
}

function allocatable(node: Node, of: "cpu" | "memory"): number {
  return quantity(node.status?.allocatable?.[of]);
}

function toMapNode(node: Node, pools: readonly Pool[], requests: Requests | undefined, measured: boolean): MapNode {
  const conditions = conditionsOf(node);
  const ready = conditions.find((condition) => condition.type === "Ready");
  const ties = tiesOf(node, pools);
  const taints = node.spec?.taints ?? [];
  const cordon = node.spec?.unschedulable === true;
  const ours = taints.filter((taint) => !taint.key.startsWith("node.kubernetes.io/"));
  const share = (of: "cpu" | "memory") => { const all = allocatable(node, of); return all > 0 ? (requests?.[of] ?? 0) / all : 0; };
  return {
    node, ties, name: node.metadata.name ?? "", zone: node.metadata.labels?.["topology.kubernetes.io/zone"] ?? "", pools: Object.keys(ties),
    notReady: ready?.status !== "True", unknown: ready?.status === "Unknown", cordoned: cordon,
    pressure: conditions.some((condition) => condition.type.endsWith("Pressure") && condition.status === "True"),
    taint: ours.some((taint) => taint.effect !== "PreferNoSchedule") ? "hard" : ours.length > 0 ? "soft" : "",
    level: measured ? Math.min(1, Math.max(share("cpu"), share("memory"))) : undefined,
  };
}

function rowOf(pool: Pool, nodes: readonly MapNode[], requests: Map<string, Requests>): PoolRow {
  const name = pool.metadata.name ?? "";
  const row: PoolRow = {
    name, pool, ready: 0, total: 0, cpu: { requested: 0, allocatable: 0 }, memory: { requested: 0, allocatable: 0 }, free: undefined,
  };
  for (const each of nodes) {
    const tie = each.ties[name];
    if (tie === undefined || tie === "leaves") continue;
    row.total++;
    if (each.notReady) continue;
    row.ready++;
    const used = requests.get(each.name) ?? { cpu: 0, memory: 0 };
    const free = { cpu: allocatable(each.node, "cpu") - used.cpu, memory: allocatable(each.node, "memory") - used.memory };
    row.cpu.requested += used.cpu;
    row.cpu.allocatable += allocatable(each.node, "cpu");
    row.memory.requested += used.memory;
    row.memory.allocatable += allocatable(each.node, "memory");
    if (!each.cordoned && (row.free === undefined || free.cpu > row.free.cpu || (free.cpu === row.free.cpu && free.memory > row.free.memory))) row.free = free;
  }
  return row;
}

/** Everything that the map shows, from the objects. */
export function model(nodes: readonly Node[], pools: readonly Pool[], pods: readonly Pod[], measured: boolean): NodeMapModel {
  const requests = requestsByNode(pods);
  const spots = nodes.map((node) => toMapNode(node, pools, requests.get(node.metadata.name ?? ""), measured));
  const placed = layout(spots);
  const order = (name: string) => { const at = placed.pools.indexOf(name); return at < 0 ? placed.pools.length : at; };
  const rows = pools.map((pool) => rowOf(pool, spots, requests)).sort((a, b) => order(a.name) - order(b.name) || a.name.localeCompare(b.name));
  return { layout: placed, rows, measured };
}
