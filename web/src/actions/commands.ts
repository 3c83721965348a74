import type { Kind } from "../kinds/registry";
import type { Send } from "../api/client";
import { refusing, taken } from "./clash";

/** One request that a button sends, and the kubectl that does the same. */
export interface Order {
  path: string;
  method: NonNullable<Send["method"]>;
  body?: unknown;
  type?: string;
  kubectl: string;
}

export interface Target {
  kind: Kind;
  namespace: string | undefined;
  name: string;
  uid: string;
}

/** A word as a shell needs it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function flagsOf(target: Pick<Target, "namespace">): string {
  return target.namespace ? ` -n ${quoted(target.namespace)}` : "";
}

function at(target: Target): string {
  return "/v1/" + [target.kind.plural, ...(target.namespace ? [target.namespace] : []), target.name].map(encodeURIComponent).join("/");
}

/** The same as curl, with $A and $T as the guide has them. */
export function curl(order: Order): string {
  const body = order.body === undefined ? "" : ` -H 'Content-Type: ${order.type ?? "application/json"}' -d ${quoted(JSON.stringify(order.body))}`;
  return `curl -sS -X ${order.method} -H "Authorization: Bearer $T"${body} "$A${order.path}"`;
}

/** Has a write act on that very object only, and own its fields under the name of its button. */
function pinned(target: Target, button: string): string {
  return `?uid=${encodeURIComponent(target.uid)}&fieldManager=windlass-console-${button}`;
}

/** The same for fields that somebody can want otherwise: what another manager has set is refused, and the reader asked. */
function held(target: Target, button: string): string {
  return refusing(pinned(target, button));
}

/** Actions that only set off something: the time or the number that they write is nobody's wish for later. */
const triggers = ["restart", "retry", "approve", "acknowledge", "accept-skipped-nodes"];

/** An action of the API. What takes back the write of another button owns it under the name of that one. */
function act(target: Target, name: string, kubectl: string, body?: unknown, button = name): Order {
  const order: Order = { path: `${at(target)}/${name}${triggers.includes(name) ? pinned(target, button) : held(target, button)}`, method: "POST", kubectl };
  if (body !== undefined) order.body = body;
  return order;
}

function patch(target: Target, spec: object): string {
  return `kubectl patch ${target.kind.kubectl} ${quoted(target.name)}${flagsOf(target)} --type=merge -p ${quoted(JSON.stringify(spec))}`;
}

/** A time as the API writes it. */
function written(time: Date): string {
  return time.toISOString().replace(/\.\d+Z/, "Z");
}

/** So many hours from now. */
export function inHours(hours: number): string {
  return written(new Date(Date.now() + hours * 3_600_000));
}

export const orders = {
  /** Asks for a machine that is on, off, restarted, suspended or resumed. One that runs again has the run strategy, or the default. */
  power(target: Target, state: "on" | "off" | "restart" | "suspend" | "resume", runStrategy?: string): Order {
    const strategy = { on: runStrategy ?? "Always", resume: runStrategy ?? "Always", off: "Halted", suspend: "Suspended" };
    const spec = state !== "restart" ? { runStrategy: strategy[state] } : { restartAt: written(new Date()) };
    const order = act(target, "power", patch(target, { spec }), runStrategy === undefined ? { state } : { state, runStrategy });
    return state === "restart" ? taken(order) : order;
  },
  /** Writes a part of the spec, under the name of its button and to the object that the reader sees. */
  merge(target: Target, button: string, spec: object): Order {
    return {
      path: `${at(target)}${held(target, button)}`, method: "PATCH", body: { spec }, type: "application/merge-patch+json",
      kubectl: patch(target, { spec }),
    };
  },
  strategy(target: Target, runStrategy: string): Order {
    return orders.merge(target, "power", { runStrategy });
  },
  /** Plans a restart, or takes it back. */
  restartAt(target: Target, time: Date | undefined): Order {
    return taken(orders.merge(target, "power", { restartAt: time ? written(time) : null }));
  },
  resize(target: Target, size: { cpu?: string; memory?: string }): Order {
    return act(target, "resize", patch(target, { spec: { resource: size } }), size);
  },
  restart(target: Target): Order {
    const command = target.kind.plural === "deployments"
      ? `kubectl rollout restart deployment ${quoted(target.name)}${flagsOf(target)}`
      : patch(target, { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() } } } } });
    return act(target, "restart", command);
  },
  /** Goes back to the pod template before. */
  rollback(target: Target): Order {
    return act(target, "rollback", `kubectl rollout undo deployment ${quoted(target.name)}${flagsOf(target)}`);
  },
  /** Pauses, until somebody ends it or until a time, which a pause in the spec does not have; or goes on. */
  pause(target: Target, on: boolean, until?: string): Order {
    const inSpec = target.kind.plural === "deployments" || target.kind.plural === "podsets";
    const command = inSpec
      ? patch(target, { spec: { paused: on } })
      : `kubectl annotate ${target.kind.kubectl} ${quoted(target.name)}${flagsOf(target)} windlass.io/paused${on ? `=${until ?? "true"}` : "-"}`;
    return act(target, on ? "pause" : "resume", command, on && !inSpec && until !== undefined ? { until } : undefined, "pause");
  },
  acknowledge(target: Target, generation: number): Order {
    return act(target, "acknowledge", `kubectl annotate ${target.kind.kubectl} ${quoted(target.name)} --overwrite nodes.lailin.xyz/acknowledge=${generation}`, { generation });
  },
  cordon(target: Target, on: boolean): Order {
    return act(target, on ? "cordon" : "uncordon", `kubectl ${on ? "cordon" : "uncordon"} ${quoted(target.name)}`, undefined, "cordon");
  },
  /** Cordons a node and evicts its pods. Those that nothing creates again, and data in emptyDir volumes, are lost only where that is chosen. */
  drain(target: Target, { alone = false, emptyDirs = false }: { alone?: boolean; emptyDirs?: boolean } = {}): Order {
    const body = { ...(alone ? { force: true } : {}), ...(emptyDirs ? { deleteEmptyDirData: true } : {}) };
    return act(target, "drain", `kubectl drain ${quoted(target.name)} --ignore-daemonsets${alone ? " --force" : ""}${emptyDirs ? " --delete-emptydir-data" : ""}`, alone || emptyDirs ? body : undefined, "cordon");
  },
  approve(target: Target, plan: string): Order {
    return act(target, "approve", `kubectl annotate ${target.kind.kubectl} ${quoted(target.name)} --overwrite clusterprovisioner.rke.io/approve=${plan}`, { plan });
  },
  /** Lets a Cluster go although machines were skipped: those that the reader sees. */
  accept(target: Target, nodes: readonly string[]): Order {
    return act(target, "accept-skipped-nodes", `kubectl annotate ${target.kind.kubectl} ${quoted(target.name)} --overwrite clusterprovisioner.rke.io/accept-skipped-nodes=true`, { nodes }, "accept");
  },
  retry(target: Target): Order {
    return act(target, "retry", `kubectl annotate ${target.kind.kubectl} ${quoted(target.name)} --overwrite clusterprovisioner.rke.io/retry=${new Date().toISOString()}`);
  },
  scale(target: Target, replicas: number): Order {
    return {
      path: `${at(target)}/scale${held(target, "scale")}`, method: "PATCH", body: { replicas },
      kubectl: `kubectl scale ${target.kind.kubectl} ${quoted(target.name)}${flagsOf(target)} --replicas=${replicas}`,
    };
  },
  /** Has the object leave what it stands for as it is, when it is deleted. */
  keep(target: Target, policy: "Retain" | "Orphan"): Order {
    return {
      path: `${at(target)}${held(target, "keep")}`, method: "PATCH", type: "application/merge-patch+json",
      body: { spec: { deletionPolicy: policy } }, kubectl: patch(target, { spec: { deletionPolicy: policy } }),
    };
  },
  delete(target: Target): Order {
    return {
      path: `${at(target)}?uid=${encodeURIComponent(target.uid)}`, method: "DELETE",
      kubectl: `kubectl delete ${target.kind.kubectl} ${quoted(target.name)}${flagsOf(target)}`,
    };
  },
};
