import type { Objects, Schemas } from "../api/types";
import { quantity } from "../status/quantity";

type Pod = Objects["pods"];
type Resources = Schemas["ResourceRequirements"];

export interface Requests { cpu: number; memory: number; pods: number }

/** What is requested, by the name of the resource: processors and memory, and what else there is. */
export interface Requested {
  cpu: number;
  memory: number;
  readonly [resource: string]: number;
}

type Sum = Record<string, number>;

/** What a container requests. A limit without a request is a request. */
function listOf(resources: Resources | undefined): Sum {
  const out: Sum = {};
  for (const list of [resources?.limits, resources?.requests]) for (const [name, value] of Object.entries(list ?? {})) out[name] = quantity(value);
  return out;
}

function add(sum: Sum, more: Sum): void {
  for (const [name, value] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + value;
}

/** Makes a sum at least as great as a floor. */
function raise(sum: Sum, floor: Sum): void {
  for (const [name, value] of Object.entries(floor)) sum[name] = Math.max(sum[name] ?? 0, value);
}

/**
 * What the scheduler reserves for pods of a spec, as internal/why adds it up: the containers with the sidecars, or an init container with the sidecars
 * before it if that is more; what is requested for the pod as a whole in place of that; and the overhead of its RuntimeClass.
 */
export function requestsOfSpec(spec: Schemas["PodSpec"] | undefined): Requested {
  const [running, sidecars, peak]: [Sum, Sum, Sum] = [{}, {}, {}];
  for (const { resources } of spec?.containers ?? []) add(running, listOf(resources));
  for (const { resources, restartPolicy } of spec?.initContainers ?? []) {
    const own = listOf(resources);
    if (restartPolicy === "Always") {
      add(sidecars, own);
      add(running, own);
    } else {
      add(own, sidecars);
      raise(peak, own);
    }
  }
  raise(running, peak);
  // A limit of the pod counts only for what no container requests; a request of zero is one.
  for (const [name, value] of Object.entries(spec?.resources?.limits ?? {})) running[name] ??= quantity(value);
  for (const [name, value] of Object.entries(spec?.resources?.requests ?? {})) running[name] = quantity(value);
  for (const [name, value] of Object.entries(spec?.overhead ?? {})) add(running, { [name]: quantity(value) });
  return { ...running, cpu: running["cpu"] ?? 0, memory: running["memory"] ?? 0 };
}

const known = new WeakMap<Pod, Requested>();

/** What a pod requests. */
export function requestsOf(pod: Pod): Requested {
  let sum = known.get(pod);
  if (!sum) known.set(pod, (sum = requestsOfSpec(pod.spec)));
  return sum;
}

/** What the pods of each node request. Pods that have ended hold nothing. */
export function requestsByNode(pods: readonly Pod[]): Map<string, Requests> {
  const out = new Map<string, Requests>();
  for (const pod of pods) {
    const name = pod.spec?.nodeName;
    if (!name || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    const { cpu, memory } = requestsOf(pod);
    const sum = out.get(name);
    if (sum) {
      sum.cpu += cpu;
      sum.memory += memory;
      sum.pods++;
    } else out.set(name, { cpu, memory, pods: 1 });
  }
  return out;
}
