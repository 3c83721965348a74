import type { Condition, KubeObject } from "../api/types";

/** What the status of an object is called. The words are those of the design; how each looks is in shapes.tsx. */
export type StatusName =
  | "deleting" | "waiting" | "stalled" | "paused" | "unknown" | "retrying" | "reconciling" | "attention" | "stopped" | "ready";

export interface Status {
  name: StatusName;
  /** The word of kubectl, where it prints one. */
  word?: string;
  reason?: string;
  message?: string;
  /** Since when, as the condition says. */
  since?: string;
}

/** Conditions that are bad when they are True, beside those that say how far a pass has come. */
export const abnormal = new Set([
  "Conflicted", "SafetyBrake", "ChildConflict", "ReplicaFailure", "RestartRequired", "SoftwareEmulation", "RootDiskRefused", "Degraded",
  "Limited", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Stalled", "Reconciling", "Paused",
]);
const noted = ["RestartRequired", "SoftwareEmulation", "Limited", "MemoryPressure", "DiskPressure", "PIDPressure"];
const approvals = new Set(["WaitingForApproval", "TooManyLeaving"]);

/** The parts of an object that its status is told from; every kind has some of them. */
export interface Judged extends KubeObject {
  spec?: unknown;
  status?: unknown;
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null && name in of ? Object.getOwnPropertyDescriptor(of, name)?.value : undefined;
}

export function text(of: unknown, ...path: string[]): string | undefined {
  let at = of;
  for (const name of path) at = field(at, name);
  return typeof at === "string" ? at : undefined;
}

export function number(of: unknown, ...path: string[]): number | undefined {
  let at = of;
  for (const name of path) at = field(at, name);
  return typeof at === "number" ? at : undefined;
}

/** The texts of a list; none where there is no list. */
export function texts(of: unknown, name: string): string[] {
  const value = field(of, name);
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function isCondition(value: unknown): value is Condition {
  return typeof field(value, "type") === "string" && typeof field(value, "status") === "string";
}

export function conditionsOf(object: Judged): Condition[] {
  const list = field(object.status, "conditions");
  return Array.isArray(list) ? list.filter(isCondition) : [];
}

function told(name: StatusName, by: Condition | undefined, word?: string): Status {
  const out: Status = { name };
  if (word) out.word = word;
  if (by?.reason) out.reason = by.reason;
  if (by?.message) out.message = by.message;
  if (by?.lastTransitionTime && Date.parse(by.lastTransitionTime) !== 0) out.since = by.lastTransitionTime; // 1970: the default of a CRD
  return out;
}

/** What has been told of objects as they are: a change is another object, and lists ask for thousands again and again. */
const judged = new WeakMap<Judged, Status>();

/** The status of an object: the first row of the design's table that holds. */
export function statusOf(plural: string, object: Judged): Status {
  let status = judged.get(object);
  if (!status) judged.set(object, (status = judge(plural, object)));
  return status;
}

function judge(plural: string, object: Judged): Status {
  const conditions = conditionsOf(object);
  const find = (type: string) => conditions.find((condition) => condition.type === type);
  const is = (type: string, value = "True") => { const found = find(type); return found?.status === value ? found : undefined; };
  const ready = find("Ready");
  const word = wordOf(plural, object, ready);
  if (object.metadata.deletionTimestamp) {
    return { ...told("deleting", ready, word), since: object.metadata.deletionTimestamp };
  }
  if (plural === "nodes") return nodeStatus(ready, is, word);
  if (plural === "pods") return podStatus(object, word);
  if (plural === "deployments") return deploymentStatus(object, is, find);
  const approval = conditions.find((condition) => condition.reason && approvals.has(condition.reason) && condition.status !== "Unknown");
  if (approval) return told("waiting", approval, word);
  const stalled = is("Stalled");
  // It runs, and what it waits for is a restart at a time that its owner chooses.
  const restart = is("RestartRequired");
  if (restart && stalled?.reason === restart.reason) return told("attention", restart, word);
  if (stalled) return told("stalled", better(ready, stalled), word);
  const paused = is("Paused");
  if (paused) return told("paused", paused, word);
  const phase = text(object.status, "phase");
  const reconciling = is("Reconciling");
  const behind = (number(object.status, "observedGeneration") ?? 0) < (object.metadata.generation ?? 0);
  if (phase === "Unknown" || (ready?.status === "Unknown" && !reconciling && !behind)) return told("unknown", ready, word);
  // A failure stays on record for a while after a start that went well: then nothing is tried again.
  const failed = text(object.status, "startFailure", "reason") || text(object.status, "nextRetryTime");
  if (failed && (reconciling || ready?.status !== "True")) return told("retrying", better(ready, reconciling), word);
  if (ready && ready.status !== "True" && (reconciling || behind)) return told("reconciling", better(ready, reconciling), word);
  if (ready && behind) return told("reconciling", reconciling ?? ready, word);
  const note = noted.map((type) => is(type)).find((found) => found);
  if (note) return told("attention", note, word);
  if (phase === "Stopped" || phase === "Off") return told("stopped", ready, word);
  if (ready) return told(ready.status === "True" ? "ready" : "reconciling", ready, word);
  return { name: plural in withoutStatus ? "ready" : "reconciling" };
}

/** Kinds that have no status: they get no shape. */
export const withoutStatus: Record<string, true> = { services: true, namespaces: true, events: true, configmaps: true, persistentvolumeclaims: true };

function better(first: Condition | undefined, second: Condition | undefined): Condition | undefined {
  return first?.message ? first : (second ?? first);
}

function wordOf(plural: string, object: Judged, ready: Condition | undefined): string | undefined {
  if (plural === "virtualmachines") return text(object.status, "phase");
  if (plural === "nodes") return ready?.status === "True" ? undefined : "NotReady";
  if (plural === "pods") return podWord(object);
  return undefined;
}

type Is = (type: string, value?: string) => Condition | undefined;

function nodeStatus(ready: Condition | undefined, is: Is, word: string | undefined): Status {
  if (ready?.status !== "True") return told("stalled", ready, word);
  const note = noted.map((type) => is(type)).find((found) => found);
  return note ? told("attention", note, `Ready, ${note.type}`) : told("ready", ready);
}

function deploymentStatus(object: Judged, is: Is, find: (type: string) => Condition | undefined): Status {
  const progressing = find("Progressing");
  if (progressing?.status === "False") return told("stalled", progressing);
  const failure = is("ReplicaFailure");
  if (failure) return told("stalled", failure);
  if (field(object.spec, "paused") === true) return told("paused", progressing);
  const available = find("Available");
  const wanted = number(object.spec, "replicas") ?? 1;
  const done = (number(object.status, "updatedReplicas") ?? 0) >= wanted && (number(object.status, "availableReplicas") ?? 0) >= wanted;
  if (available?.status === "True" && done) return told("ready", available);
  return told("reconciling", available?.status === "False" ? available : (progressing ?? available));
}

/** What kubectl prints for a pod: what a container waits for says more than the phase. */
function podWord(object: Judged): string | undefined {
  const phase = text(object.status, "phase");
  const reason = text(object.status, "reason");
  if (object.metadata.deletionTimestamp && reason === "NodeLost") return "Unknown";
  if (object.metadata.deletionTimestamp && phase !== "Succeeded" && phase !== "Failed") return "Terminating";
  for (const list of ["initContainerStatuses", "containerStatuses"]) {
    const statuses = field(object.status, list);
    if (!Array.isArray(statuses)) continue;
    for (const each of statuses) {
      const waits = text(each, "state", "waiting", "reason");
      if (waits && waits !== "PodInitializing" && waits !== "ContainerCreating") return waits;
    }
  }
  return reason ?? phase;
}

function podStatus(object: Judged, word: string | undefined): Status {
  const conditions = conditionsOf(object);
  const scheduled = conditions.find((condition) => condition.type === "PodScheduled" && condition.status === "False");
  const ready = conditions.find((condition) => condition.type === "Ready");
  const phase = text(object.status, "phase");
  if (phase === "Succeeded") return told("ready", undefined, word);
  if (phase === "Failed") return told("stalled", ready, word);
  if (scheduled?.reason === "Unschedulable") return told("stalled", scheduled, word);
  if (word && word !== phase) return told("retrying", ready, word);
  if (phase === "Unknown") return told("unknown", ready, word);
  return told(ready?.status === "True" ? "ready" : "reconciling", ready, word);
}

/** The shape of a condition: what it means, not whether it is True. */
export function conditionStatus(condition: Condition, whole: Status): StatusName {
  // What waits for somebody does not move, and what runs until its owner restarts it is not broken.
  if (condition.reason !== undefined && approvals.has(condition.reason) && condition.status !== "Unknown") return "waiting";
  if (condition.type === "Stalled" && condition.status === "True" && whole.name === "attention") return "attention";
  if (condition.type === "Reconciling") return condition.status === "True" ? "reconciling" : "ready";
  if (condition.type === "Stalled") return condition.status === "True" ? "stalled" : "ready";
  if (condition.type === "Paused") return condition.status === "True" ? "paused" : "ready";
  if (condition.status === "Unknown") return "unknown";
  const bad = (condition.status === "True") === abnormal.has(condition.type);
  if (!bad) return "ready";
  return whole.name === "reconciling" || whole.name === "retrying" ? whole.name : whole.name === "stalled" ? "stalled" : "attention";
}
