import type { KubeObject } from "../api/types";
import type { Key, Values } from "../i18n";
import { conditionsOf, type Judged, text, texts } from "../status/status";
import { inHours, type Order, orders, type Target } from "./commands";

export interface Deed {
  key: Key;
  /** The right that it takes, as in the matrix. */
  right: "patch" | "delete" | "scale";
  /** Said before it is done, where it is asked for. */
  warning?: Key;
  values?: Values;
  danger?: boolean;
  /** Done with one object at a time: each has an answer of its own. */
  alone?: boolean;
  order: Order;
  /** The same for some hours, where it can end by itself. */
  lasting?: (hours: number) => Order;
  /** What takes it back: with it, it is done at once. */
  undo?: Order;
}

function isPaused(object: Judged): boolean {
  return conditionsOf(object).some((condition) => condition.type === "Paused" && condition.status === "True") || Object.getOwnPropertyDescriptor(object.spec ?? {}, "paused")?.value === true;
}

/** When the pause of an object ends by itself. */
function pauseEnds(object: KubeObject): string | undefined {
  const value = object.metadata.annotations?.["windlass.io/paused"] ?? "";
  return /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
}

/** Whether a Deployment had another pod template before. That of a PodSet has what the PodSet says, whatever it is told. */
function hasEarlier(object: KubeObject & { metadata: { ownerReferences?: readonly object[] } }): boolean {
  const { annotations, ownerReferences = [] } = object.metadata;
  return Number(annotations?.["deployment.kubernetes.io/revision"] ?? 1) > 1 && ownerReferences.length === 0;
}

const pausable = ["nodepools", "podsets", "deployments", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools"];
const deletable = [...pausable, "services", "pods", "namespaces", "nodes"];

/** What a button can do with an object, as its kind and state allow. */
export function deedsOf(target: Target, object: KubeObject & Judged): Deed[] {
  const { plural } = target.kind;
  const out: Deed[] = [];
  if (plural === "virtualmachines") {
    const strategy = text(object.spec, "runStrategy");
    const off = strategy === "Halted";
    const suspended = strategy === "Suspended";
    if (off) out.push({ key: "action.start", right: "patch", order: orders.power(target, "on"), undo: orders.power(target, "off") });
    else if (suspended) out.push({ key: "action.wake", right: "patch", order: orders.power(target, "resume"), undo: orders.power(target, "suspend") });
    else {
      out.push({ key: "action.stop", right: "patch", warning: "confirm.stop", order: orders.power(target, "off"), undo: orders.power(target, "on", strategy) });
      out.push({ key: "action.restart", right: "patch", warning: "confirm.restart", order: orders.power(target, "restart") });
      out.push({ key: "action.suspend", right: "patch", order: orders.power(target, "suspend"), undo: orders.power(target, "resume", strategy) });
    }
  }
  if (plural === "nodes") {
    const cordoned = Object.getOwnPropertyDescriptor(object.spec ?? {}, "unschedulable")?.value === true;
    out.push({ key: cordoned ? "action.uncordon" : "action.cordon", right: "patch", order: orders.cordon(target, !cordoned), undo: orders.cordon(target, cordoned) });
    out.push({ key: "action.drain", right: "patch", danger: true, alone: true, order: orders.drain(target) });
  }
  if (plural === "nodepools" && conditionsOf(object).some((condition) => condition.type === "SafetyBrake" && condition.status === "True")) {
    out.push({ key: "action.acknowledge", right: "patch", warning: "confirm.acknowledge", order: orders.acknowledge(target, object.metadata.generation ?? 0) });
  }
  if (plural === "clusters") {
    // Also where it is not repeated by itself: what was wrong may have been outside of the configuration.
    if (text(object.status, "nextRetryTime") || (text(object.status, "lastOperation", "endTime") && text(object.status, "lastOperation", "reason"))) out.push({ key: "action.retry", right: "patch", order: orders.retry(target) });
    const skipped = texts(object.status, "skippedNodes");
    if (object.metadata.deletionTimestamp && skipped.length > 0) out.push({ key: "action.accept", right: "patch", danger: true, alone: true, warning: "confirm.accept", values: { count: skipped.length, names: skipped.join(", ") }, order: orders.accept(target, skipped) });
  }
  if (plural === "podsets" || plural === "deployments") out.push({ key: "action.restartPods", right: "patch", warning: "confirm.restartPods", order: orders.restart(target) });
  if (pausable.includes(plural)) {
    const paused = isPaused(object);
    const rollouts = plural === "deployments" || plural === "podsets";
    // What is being deleted can be resumed, because a pause holds that up as well, and not be paused any more.
    if (!object.metadata.deletionTimestamp) out.push({ key: paused ? "action.resume" : "action.pause", right: "patch", order: orders.pause(target, !paused), ...(paused || rollouts ? {} : { lasting: (hours) => orders.pause(target, true, inHours(hours)) }), undo: orders.pause(target, paused, pauseEnds(object)) });
    else if (paused && !rollouts) out.push({ key: "action.resume", right: "patch", order: orders.pause(target, false) });
  }
  if (plural === "deployments" && hasEarlier(object) && !isPaused(object)) out.push({ key: "action.rollback", right: "patch", warning: "confirm.rollback", order: orders.rollback(target) });
  if (deletable.includes(plural)) out.push({ key: "action.delete", right: "delete", danger: true, order: orders.delete(target) });
  return out;
}

/** So many have buttons of their own; the others, and what deletes, are in the menu. */
const buttons = 2;

/** Those that have buttons of their own. */
export function foremost(deeds: readonly Deed[]): Deed[] {
  return deeds.filter((deed) => !deed.danger).slice(0, buttons);
}
