import type { KubeObject } from "../api/types";
import { age } from "./age";
import { type Judged, number, text } from "./status";

/** A text and what is filled in. */
export type Progress =
  | { key: "progress.nodes" | "progress.pods"; values: { done: number; count: number } }
  | { key: "progress.failed" | "progress.due"; values: { count: number; time: string } }
  | { key: "progress.run"; values: { id: string; time: string } };

function at(of: unknown, ...path: string[]): unknown {
  let value = of;
  for (const name of path) value = typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
  return value;
}

/** How long it is until a time, as an age is written. */
function until(time: string, now: number): string | undefined {
  const left = Date.parse(time) - now;
  return left > 0 ? age(new Date(now).toISOString(), now + left) : undefined;
}

function failed(count: number | undefined, next: string | undefined, now: number): Progress | undefined {
  if (count === undefined || next === undefined) return undefined;
  const time = until(next, now);
  return time === undefined ? { key: "progress.due", values: { count, time: "" } } : { key: "progress.failed", values: { count, time } };
}

/** How far something is that moves, where its object says so: counts and times that are known, and no forecast. */
export function progressOf(plural: string, object: KubeObject & Judged, now: number): Progress | undefined {
  const { spec, status } = object;
  if (plural === "nodepools") {
    const [count, turn] = [number(status, "nodeCount"), at(status, "rollout", "nodes")];
    const left = (number(status, "rollout", "waitingNodeCount") ?? 0) + (Array.isArray(turn) ? turn.length : 0);
    return count !== undefined && left > 0 ? { key: "progress.nodes", values: { done: count - left, count } } : undefined;
  }
  if (plural === "virtualmachines") return failed(number(status, "startFailure", "count"), text(status, "startFailure", "retryAfter"), now);
  if (plural === "clusters") {
    const [id, began] = [text(status, "lastOperation", "id"), text(status, "lastOperation", "startTime")];
    if (id !== undefined && began !== undefined && text(status, "lastOperation", "endTime") === undefined) return { key: "progress.run", values: { id, time: age(began, now) } };
    return failed(number(status, "lastOperation", "attempt"), text(status, "nextRetryTime"), now);
  }
  if (plural === "podsets" || plural === "deployments") {
    const count = number(spec, plural === "podsets" ? "size" : "replicas");
    return count === undefined ? undefined : { key: "progress.pods", values: { done: Math.min(count, number(status, "availableReplicas") ?? 0), count } };
  }
  return undefined;
}
