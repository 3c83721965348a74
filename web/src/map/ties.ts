import type { Objects } from "../api/types";

type Node = Objects["nodes"];
type Pool = Objects["nodepools"];

/** How a node stands to a pool. */
export type Tie = "has" | "waits" | "turn" | "leaves";

export interface Ties {
  ties: Readonly<Record<string, Tie>>;
  /** Pools that lose a key on the node to another pool. */
  lost: readonly string[];
}

function memberLabel(pool: Pool): string {
  return pool.status?.memberLabel ?? `nodepool.node-restriction.kubernetes.io/${pool.metadata.name ?? ""}`;
}

interface Wants { lost: boolean; all: boolean }

/** Whether a member has all that its pool wants. A key whose value is that of another of its pools is lost, and not waited for. */
function wantsOf(node: Node, pool: Pool, others: readonly Pool[]): Wants {
  const labels = node.metadata.labels ?? {};
  const out: Wants = { lost: false, all: true };
  for (const [key, value] of Object.entries(pool.spec?.labels ?? {})) {
    if (labels[key] === value) continue;
    if (others.some((other) => other !== pool && other.spec?.labels?.[key] !== undefined && other.spec.labels[key] === labels[key])) out.lost = true;
    else out.all = false;
  }
  const taints = node.spec?.taints ?? [];
  for (const taint of pool.spec?.taints ?? []) {
    if (!taints.some((there) => there.key === taint.key && there.effect === taint.effect && (there.value ?? "") === (taint.value ?? ""))) out.all = false;
  }
  return out;
}

const known = new WeakMap<Node, { pools: readonly Pool[]; found: Ties }>();

/** The pools of a node, by its labels and taints: solid where it has all that the pool wants, and waiting where it does not yet. */
export function tiesOf(node: Node, pools: readonly Pool[]): Ties {
  const before = known.get(node);
  if (before?.pools === pools) return before.found;
  const labels = node.metadata.labels ?? {};
  const name = node.metadata.name ?? "";
  const ties: Record<string, Tie> = {};
  const lost: string[] = [];
  const members = pools.filter((pool) => memberLabel(pool) in labels);
  for (const pool of pools) {
    const of = pool.metadata.name ?? "";
    if (pool.status?.draining?.some((draining) => draining.node === name)) ties[of] = "leaves";
    else if (pool.status?.rollout?.nodes?.includes(name)) ties[of] = "turn";
    else if (members.includes(pool)) {
      const wants = wantsOf(node, pool, members);
      ties[of] = wants.all ? "has" : "waits";
      if (wants.lost) lost.push(of);
    } else if (`node-role.kubernetes.io/${of}` in labels) ties[of] = "waits";
  }
  const found = { ties, lost };
  known.set(node, { pools, found });
  return found;
}
