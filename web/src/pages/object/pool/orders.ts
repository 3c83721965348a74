import { refusing } from "../../../actions/clash";
import { type Order, quoted, type Target } from "../../../actions/commands";
import { objectPath } from "../../../api/client";

/** The parts of the API's answer that a change of a pool needs. */
export interface PoolSpec {
  dryRun?: boolean;
  [field: string]: unknown;
}

function patch(target: Target, manager: string, body: unknown): Order {
  return {
    path: refusing(`/v1${objectPath("nodepools", undefined, target.name)}?uid=${encodeURIComponent(target.uid)}&fieldManager=windlass-console-${manager}`),
    method: "PATCH", type: "application/json-patch+json", body,
    kubectl: `kubectl patch nodepools.nodes.lailin.xyz ${quoted(target.name)} --type=json -p ${quoted(JSON.stringify(body))}`,
  };
}

/** Replaces the spec and nothing else, and only if nobody has changed it since it was as known. */
export function setSpec(target: Target, known: PoolSpec, spec: PoolSpec): Order {
  return patch(target, "change", [{ op: "test", path: "/spec", value: known }, { op: "replace", path: "/spec", value: spec }]);
}

/** The spec with which the pool touches no node, and its status says what it would do. */
export function rehearsed(spec: PoolSpec): PoolSpec {
  return { ...spec, dryRun: true };
}

/** The spec that a rehearsal was of. */
export function live(spec: PoolSpec): PoolSpec {
  const out = { ...spec };
  delete out.dryRun;
  return out;
}

/** Does what has been rehearsed, and only if the pool still is as known: nobody has rehearsed what it is by now otherwise. */
export function apply(target: Target, known: PoolSpec): Order {
  return patch(target, "change", [{ op: "test", path: "/spec", value: known }, { op: "remove", path: "/spec/dryRun" }]);
}

/** Gives a node that leaves its role label back. */
export function putBack(node: { name: string; uid: string }, pool: string): Order {
  const label = `node-role.kubernetes.io/${pool}`;
  return {
    path: refusing(`/v1${objectPath("nodes", undefined, node.name)}?uid=${encodeURIComponent(node.uid)}&fieldManager=windlass-console-put-back`),
    method: "PATCH", type: "application/merge-patch+json", body: { metadata: { labels: { [label]: "" } } },
    kubectl: `kubectl label node ${quoted(node.name)} ${label}=`,
  };
}
