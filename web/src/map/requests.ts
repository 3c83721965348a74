import type { Objects } from "../api/types";
import { quantity } from "../status/quantity";

type Pod = Objects["pods"];

export interface Requests { cpu: number; memory: number; pods: number }

const known = new WeakMap<Pod, { cpu: number; memory: number }>();

/** What a pod requests: its containers together. */
export function requestsOf(pod: Pod): { cpu: number; memory: number } {
  let sum = known.get(pod);
  if (sum) return sum;
  sum = { cpu: 0, memory: 0 };
  for (const container of pod.spec?.containers ?? []) {
    sum.cpu += quantity(container.resources?.requests?.["cpu"]);
    sum.memory += quantity(container.resources?.requests?.["memory"]);
  }
  known.set(pod, sum);
  return sum;
}

/** What the pods of each node request. Pods that have ended hold nothing. */
export function requestsByNode(pods: readonly Pod[]): Map<string, Requests> {
  const out = new Map<string, Requests>();
  for (const pod of pods) {
    const name = pod.spec?.nodeName;
    if (!name || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    const of = requestsOf(pod);
    const sum = out.get(name);
    if (sum) {
      sum.cpu += of.cpu;
      sum.memory += of.memory;
      sum.pods++;
    } else out.set(name, { ...of, pods: 1 });
  }
  return out;
}
