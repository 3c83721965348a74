import { bodyOf } from "../api/client";
import type { Schemas } from "../api/types";
import type { Key } from "../i18n";
import type { Order } from "./commands";
import { sendOrder } from "./useOrder";

export type Drain = Schemas["Drain"];
type Pod = Schemas["DrainedPod"];

/** What becomes of some pods of a node that is drained. */
export interface Part {
  key: Key;
  /** Whether the pods go, belong to the node and stay, or are in the way of an empty node. */
  fate: "goes" | "stays" | "inTheWay";
  pods: readonly Pod[];
}

/** What is in the way comes first: somebody has to read it. Pods that are gone are left out. */
const parts: readonly { key: Key; fate: Part["fate"]; results: readonly Pod["result"][] }[] = [
  { key: "drain.failed", fate: "inTheWay", results: ["Failed", "Forbidden"] },
  { key: "drain.blocked", fate: "inTheWay", results: ["Blocked"] },
  { key: "drain.unmanaged", fate: "inTheWay", results: ["Unmanaged"] },
  { key: "drain.localData", fate: "inTheWay", results: ["LocalData"] },
  { key: "drain.would", fate: "goes", results: ["WouldBeEvicted"] },
  { key: "drain.ending", fate: "goes", results: ["Evicted", "Ending"] },
  { key: "drain.node", fate: "stays", results: ["DaemonSet", "Mirror"] },
];

/** The pods of a node by what becomes of them. */
export function partsOf({ pods }: Drain): Part[] {
  return parts.map(({ key, fate, results }) => ({ key, fate, pods: pods.filter(({ result }) => results.includes(result)) })).filter((part) => part.pods.length > 0);
}

/** Whether the same request, sent again, can empty the node further: pods are ending, or what kept one may pass. */
export function goesOn({ pods }: Drain): boolean {
  return pods.some(({ result }) => result === "Evicted" || result === "Ending" || result === "Blocked" || result === "Failed");
}

/** Whether pods have a result, so that the choice that is about them is offered. */
export function has(drain: Drain | undefined, result: Pod["result"]): boolean {
  return drain?.pods.some((pod) => pod.result === result) === true;
}

/** Sends a drain. It evicts each pod once, and answers with what became of each. */
export async function sendDrain(order: Order): Promise<Drain> {
  return bodyOf<Drain>(await sendOrder(order));
}

/** What a drain would do. */
export async function foresee(order: Order): Promise<Drain> {
  return sendDrain({ ...order, path: `${order.path}&dryRun=All` });
}
