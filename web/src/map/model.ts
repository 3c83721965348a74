import type { Objects } from "../api/types";
import { cores, gibi, quantity } from "../status/quantity";
import { conditionsOf } from "../status/status";
import { layout, type Layout, type Spot } from "./layout";
import { type Requests, requestsByNode } from "./requests";
import { type Tie, tiesOf } from "./ties";

type Node = Objects["nodes"];
type Pool = Objects["nodepools"];
type Pod = Objects["pods"];

/** What the lines of the map are. */
export type By = "pools" | "zones" | "sizes";

export interface MapNode extends Spot {
  node: Node;
  ties: Readonly<Record<string, Tie>>;
  /** Pools that lose a key here. */
  lost: readonly string[];
  notReady: boolean;
  unknown: boolean;
  cordoned: boolean;
  pressure: boolean;
  taint: "" | "hard" | "soft";
  /** The scarcer of CPU and memory that is requested, from 0 to 1; undefined where pods may not be listed. */
  level: number | undefined;
  cpu: { requested: number; allocatable: number };
  memory: { requested: number; allocatable: number };
}

export interface LineRow {
  name: string;
  /** The pool of the line, where the lines are pools. */
  pool: Pool | undefined;
  ready: number;
  total: number;
  cpu: { requested: number; allocatable: number };
  memory: { requested: number; allocatable: number };
  /** The node with most room, which the sums hide. */
  free: { cpu: number; memory: number } | undefined;
}

export interface NodeMapModel {
  layout: Layout<MapNode>;
  rows: readonly LineRow[];
  measured: boolean;
}

/** What is the same about a node until it changes. */
interface Fixed { zone: string; size: string; cpu: number; memory: number; notReady: boolean; unknown: boolean; pressure: boolean; taint: MapNode["taint"] }

const fixed = new WeakMap<Node, Fixed>();

function fixedOf(node: Node): Fixed {
  let out = fixed.get(node);
  if (out) return out;
  const conditions = conditionsOf(node);
  const ready = conditions.find((condition) => condition.type === "Ready");
  const ours = (node.spec?.taints ?? []).filter((taint) => !taint.key.startsWith("node.kubernetes.io/"));
  const cpu = quantity(node.status?.allocatable?.["cpu"]);
  const memory = quantity(node.status?.allocatable?.["memory"]);
  out = {
    zone: node.metadata.labels?.["topology.kubernetes.io/zone"] ?? "", size: `${cores(cpu)} CPU, ${gibi(memory)}`, cpu, memory,
    notReady: ready?.status !== "True", unknown: ready?.status === "Unknown",
    pressure: conditions.some((condition) => condition.type.endsWith("Pressure") && condition.status === "True"),
    taint: ours.some((taint) => taint.effect !== "PreferNoSchedule") ? "hard" : ours.length > 0 ? "soft" : "",
  };
  fixed.set(node, out);
  return out;
}

interface Made { ties: ReturnType<typeof tiesOf> | undefined; by: By; measured: boolean; cpu: number; memory: number; spot: MapNode }

const made = new WeakMap<Node, Made>();

/** A node as the map needs it: the same object until something that it is made of changes, so that thousands are not made for each change of one. */
function toMapNode(node: Node, pools: readonly Pool[], requests: Requests | undefined, measured: boolean, by: By): MapNode {
  const tied = by === "pools" ? tiesOf(node, pools) : undefined;
  const { cpu = 0, memory = 0 } = requests ?? {};
  const before = made.get(node);
  if (before?.ties === tied && before?.by === by && before.measured === measured && before.cpu === cpu && before.memory === memory) return before.spot;
  const of = fixedOf(node);
  const group = by === "zones" ? of.zone : of.size;
  const { ties, lost } = tied ?? { ties: group === "" ? {} : { [group]: "has" as const }, lost: [] };
  const share = (used: number, all: number) => (all > 0 ? used / all : 0);
  const spot: MapNode = {
    node, ties, lost, name: node.metadata.name ?? "", zone: of.zone, pools: Object.keys(ties),
    notReady: of.notReady, unknown: of.unknown, cordoned: node.spec?.unschedulable === true, pressure: of.pressure, taint: of.taint,
    level: measured ? Math.min(1, Math.max(share(cpu, of.cpu), share(memory, of.memory))) : undefined,
    cpu: { requested: cpu, allocatable: of.cpu }, memory: { requested: memory, allocatable: of.memory },
  };
  made.set(node, { ties: tied, by, measured, cpu, memory, spot });
  return spot;
}

function add(row: LineRow, node: MapNode): void {
  row.total++;
  if (node.notReady) return;
  row.ready++;
  row.cpu.requested += node.cpu.requested;
  row.cpu.allocatable += node.cpu.allocatable;
  row.memory.requested += node.memory.requested;
  row.memory.allocatable += node.memory.allocatable;
  const free = { cpu: node.cpu.allocatable - node.cpu.requested, memory: node.memory.allocatable - node.memory.requested };
  if (!node.cordoned && (row.free === undefined || free.cpu > row.free.cpu || (free.cpu === row.free.cpu && free.memory > row.free.memory))) row.free = free;
}

function rowsOf(names: readonly (readonly [string, Pool | undefined])[], spots: readonly MapNode[]): LineRow[] {
  const rows = new Map<string, LineRow>();
  for (const [name, pool] of names) rows.set(name, { name, pool, ready: 0, total: 0, cpu: { requested: 0, allocatable: 0 }, memory: { requested: 0, allocatable: 0 }, free: undefined });
  for (const spot of spots) {
    for (const name of spot.pools) {
      const row = rows.get(name);
      if (row && spot.ties[name] !== "leaves") add(row, spot);
    }
  }
  return [...rows.values()];
}

interface Placed { spots: readonly MapNode[]; placed: Layout<MapNode> }
/** The layouts of the maps that are in the page: few, the newest first. */
let recent: readonly Placed[] = [];

function sameGroups(a: readonly MapNode[], b: readonly MapNode[]): boolean {
  return a.length === b.length && a.every((spot, at) => {
    const other = b[at];
    return other === spot || (other?.name === spot.name && other.zone === spot.zone && other.pools.length === spot.pools.length && other.pools.every((pool, index) => pool === spot.pools[index]));
  });
}

/** The layout, in the order that it had before if nothing has changed that it depends on: health and requests move nothing. */
function place(spots: readonly MapNode[]): Layout<MapNode> {
  const before = recent.find((each) => sameGroups(each.spots, spots));
  const now = before && new Map(spots.map((spot) => [spot.name, spot]));
  const placed = before && now
    ? { pools: before.placed.pools, blocks: before.placed.blocks.map((block) => ({ pools: block.pools, spots: block.spots.map((spot) => now.get(spot.name) ?? spot) })) }
    : layout(spots);
  recent = [{ spots, placed }, ...recent.filter((each) => each !== before)].slice(0, 4);
  return placed;
}

/** Everything that the map shows, from the objects. */
export function model(nodes: readonly Node[], pools: readonly Pool[], pods: readonly Pod[], measured: boolean, by: By = "pools"): NodeMapModel {
  const requests = requestsByNode(pods);
  const spots = nodes.map((node) => toMapNode(node, pools, requests.get(node.metadata.name ?? ""), measured, by));
  const there = place(spots);
  const order = new Map(there.pools.map((name, index) => [name, index]));
  const names: (readonly [string, Pool | undefined])[] = by === "pools" ? pools.map((pool) => [pool.metadata.name ?? "", pool]) : there.pools.map((name) => [name, undefined]);
  const at = (name: string) => order.get(name) ?? there.pools.length;
  const rows = rowsOf(names, spots).sort((a, b) => at(a.name) - at(b.name) || a.name.localeCompare(b.name));
  return { layout: there, rows, measured };
}
