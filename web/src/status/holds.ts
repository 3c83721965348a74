import type { KubeObject } from "../api/types";
import { type Judged, statusOf, text } from "./status";

/** The pools whose rollout waits because a member is not Ready: the member holds it up. */
export function heldUpBy(node: KubeObject, pools: readonly Judged[]): string[] {
  const labels = node.metadata.labels ?? {};
  return pools.filter((pool) => {
    const name = pool.metadata.name ?? "";
    return statusOf("nodepools", pool).reason === "TooManyUnavailable" && (text(pool.status, "memberLabel") ?? `nodepool.node-restriction.kubernetes.io/${name}`) in labels;
  }).map((pool) => pool.metadata.name ?? "");
}
