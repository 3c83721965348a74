import type { Objects } from "../../../api/types";
import { type Requested, requestsOf } from "../../../map/requests";
import { tiesOf } from "../../../map/ties";
import { quantity } from "../../../status/quantity";
import { conditionsOf } from "../../../status/status";

type Node = Objects["nodes"];
type Pod = Objects["pods"];
type Pool = Objects["nodepools"];

export interface Block {
  name: string;
  size: number;
  /** Whether it is a pod of what is looked at. */
  own: boolean;
}

export interface Bin {
  name: string;
  allocatable: number;
  free: number;
  blocks: Block[];
  /** How many more pods fit, by every resource that they request. */
  fits: number;
  /** Why no pod comes here, if none does. */
  shut: "notReady" | "cordoned" | "leaves" | undefined;
  /** Other pools of the node. */
  also: string[];
}

export interface Packing {
  resource: string;
  /** What one pod requests of it. */
  each: number;
  bins: Bin[];
  /** How many pods have room: those that are there and those that would fit. */
  room: number;
}

function isReady(node: Node): boolean {
  return conditionsOf(node).some((condition) => condition.type === "Ready" && condition.status === "True");
}

/** Whether a pod requests anything of a node: what requests nothing says nothing of how many fit. */
export function requestsAny(wants: Requested): boolean {
  return Object.values(wants).some((each) => each > 0);
}

/** The resource of which nodes have least for what one pod wants: processors if it is the same. */
function scarcest(nodes: readonly Node[], wants: Requested): string {
  const pods = (of: string) => { const each = wants[of] ?? 0; return each > 0 ? Math.max(0, ...nodes.map((node) => quantity(node.status?.allocatable?.[of]) / each)) : Infinity; };
  return ["cpu", "memory", ...Object.keys(wants).sort()].reduce((least, of) => (pods(of) < pods(least) ? of : least));
}

/**
 * What the pods on each node of a pool request, and how many more of one kind fit there by every resource that they request. It knows nothing of
 * what else keeps pods away: the checks beside it do.
 */
export function pack(pool: string, nodes: readonly Node[], pools: readonly Pool[], pods: readonly Pod[], own: ReadonlySet<string>, wants: Requested): Packing {
  const inside = nodes.filter((node) => pool in tiesOf(node, pools).ties);
  const resource = scarcest(inside, wants);
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName;
    if (!node || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    byNode.set(node, [...(byNode.get(node) ?? []), pod]);
  }
  const bins = inside.map((node): Bin => {
    const name = node.metadata.name ?? "";
    const there = byNode.get(name) ?? [];
    const left = (of: string) => quantity(node.status?.allocatable?.[of]) - there.reduce((sum, pod) => sum + (requestsOf(pod)[of] ?? 0), 0);
    const { ties } = tiesOf(node, pools);
    const shut = ties[pool] === "leaves" ? "leaves" : !isReady(node) ? "notReady" : node.spec?.unschedulable === true ? "cordoned" : undefined;
    const room = Object.entries(wants).flatMap(([of, each]) => (each > 0 ? [Math.floor(left(of) / each + 1e-9)] : []));
    // A node that does not say how many pods it takes, takes any number.
    const most = node.status?.allocatable?.["pods"];
    const fits = room.length === 0 ? 0 : Math.max(0, Math.min(...room, most === undefined ? Infinity : quantity(most) - there.length));
    return {
      name, allocatable: quantity(node.status?.allocatable?.[resource]), free: left(resource), shut, also: Object.keys(ties).filter((other) => other !== pool),
      fits: shut ? 0 : fits,
      blocks: there.map((pod) => ({ name: pod.metadata.name ?? "", size: requestsOf(pod)[resource] ?? 0, own: own.has(pod.metadata.uid ?? "") })).filter((block) => block.size > 0).sort((a, b) => Number(b.own) - Number(a.own) || b.size - a.size),
    };
  });
  bins.sort((a, b) => Number(a.shut !== undefined) - Number(b.shut !== undefined) || (a.name < b.name ? -1 : 1));
  const placed = bins.filter((bin) => bin.shut === undefined).reduce((sum, bin) => sum + bin.blocks.filter((block) => block.own).length, 0);
  return { resource, each: wants[resource] ?? 0, bins, room: placed + bins.reduce((sum, bin) => sum + bin.fits, 0) };
}
