import type { KubeObject } from "../api/types";
import { heldUpBy } from "./holds";
import { type Judged, type Status, type StatusName, statusOf, text } from "./status";

/** A row of the overview: one object, or several with the same trouble. */
export interface Matter {
  plural: string;
  status: Status;
  objects: readonly KubeObject[];
  /** The pools whose rollout it holds up. */
  holds?: readonly string[];
}

/** How long something must be unknown before it needs somebody, in milliseconds. */
const unknownFor = 60_000;
const needs: readonly StatusName[] = ["stalled", "unknown", "waiting"];
const moves: readonly StatusName[] = ["retrying", "reconciling"];
const nothing: readonly KubeObject[] = [];

/** The owners of pods that are looked at themselves, or whose owners are. Nobody else tells of a pod of a DaemonSet, a StatefulSet or a Job. */
const telling = ["PodSet", "ReplicaSet", "VirtualMachine"];

/**
 * What has an owner that is looked at is told by its owner: the Deployment of a PodSet, and pods. A pod that has failed is made anew by any, but by a
 * Job that has given up, of which nobody tells: the pods that a Job has failed with before it succeeded are left behind as well, and look the same.
 */
function isOwned(plural: string, object: Judged & { metadata: { ownerReferences?: readonly { kind: string; controller?: boolean }[] } }): boolean {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return false;
  return plural === "pods" ? telling.includes(owner.kind) || text(object.status, "phase") === "Failed" : owner.kind === "PodSet";
}

function since(status: Status): number {
  const at = status.since === undefined ? Number.NaN : Date.parse(status.since);
  return Number.isNaN(at) ? Number.MAX_SAFE_INTEGER : at;
}

function nameOf(object: KubeObject | undefined): string {
  return `${object?.metadata.namespace ?? ""}/${object?.metadata.name ?? ""}`;
}

/** What the objects of a kind come to, found out in one go over them. */
export interface Tally {
  bad: number;
  moving: number;
  stopped: number;
  ready: number;
  /** How many need somebody, beside those of which an owner tells, and the worst of them. */
  worst: { name: StatusName; count: number } | undefined;
  /** Those of which the overview tells: what needs somebody, what does so once it lasts, and what moves. */
  needs: readonly KubeObject[];
  unknown: readonly KubeObject[];
  moves: readonly KubeObject[];
}

/** By the list, which is another one when one of its objects is: the rail, the list and the overview ask for the same several times a second. */
const tallies = new WeakMap<readonly KubeObject[], Tally>();

export function tallyOf(plural: string, objects: readonly KubeObject[]): Tally {
  let tally = tallies.get(objects);
  if (!tally) tallies.set(objects, (tally = count(plural, objects)));
  return tally;
}

function count(plural: string, objects: readonly KubeObject[]): Tally {
  const [bad, unknown, moving]: [KubeObject[], KubeObject[], KubeObject[]] = [[], [], []];
  const out = { bad: 0, moving: 0, stopped: 0, ready: 0 };
  let name: StatusName | undefined;
  for (const object of objects) {
    const status = statusOf(plural, object).name;
    if (status === "ready" || status === "attention") out.ready++;
    else if (status === "stopped") { out.ready++; out.stopped++; }
    else if (needs.includes(status)) {
      out.bad++;
      if (isOwned(plural, object)) continue;
      (status === "unknown" ? unknown : bad).push(object);
      if (name === undefined || needs.indexOf(status) < needs.indexOf(name)) name = status;
    } else if (status === "deleting") out.moving++;
    else if (moves.includes(status)) {
      out.moving++;
      // Pods come up by themselves; one that fails again and again does not.
      if (!isOwned(plural, object) && (plural !== "pods" || status === "retrying")) moving.push(object);
    }
  }
  return { ...out, worst: name && { name, count: bad.length + unknown.length }, needs: bad, unknown, moves: moving };
}

/** Objects of a kind with the same reason and message, as one row. pools are those that a node may hold up. */
function group(plural: string, objects: readonly KubeObject[], pools: readonly KubeObject[]): Matter[] {
  const groups = new Map<string, { plural: string; status: Status; objects: KubeObject[]; holds: string[] }>();
  for (const object of objects) {
    const status = statusOf(plural, object);
    const holds = status.name === "stalled" ? heldUpBy(object, pools) : [];
    const key = [status.name, status.reason, status.message ?? nameOf(object), ...holds].join("\n");
    const group = groups.get(key);
    if (group) {
      group.objects.push(object);
      if (since(status) < since(group.status)) group.status = status;
    } else {
      groups.set(key, { plural, status, objects: [object], holds });
    }
  }
  return [...groups.values()];
}

const grouped = new WeakMap<readonly KubeObject[], { pools: readonly KubeObject[]; matters: Matter[] }>();

/** The same for as long as the objects and the pools are. */
function groupOnce(plural: string, objects: readonly KubeObject[], pools: readonly KubeObject[]): Matter[] {
  const known = grouped.get(objects);
  if (known?.pools === pools) return known.matters;
  const matters = group(plural, objects, pools);
  grouped.set(objects, { pools, matters });
  return matters;
}

/** The worst first, then what holds up most others, what has most objects, and the oldest. */
function sorted(matters: readonly Matter[], names: readonly StatusName[]): Matter[] {
  // A time is read once, and not for each comparison.
  const all = matters.map((matter) => ({ matter, at: since(matter.status), name: nameOf(matter.objects[0]), holds: matter.holds?.length ?? 0 }));
  return all.sort((a, b) =>
    names.indexOf(a.matter.status.name) - names.indexOf(b.matter.status.name) || b.holds - a.holds || b.matter.objects.length - a.matter.objects.length ||
    a.at - b.at || a.matter.plural.localeCompare(b.matter.plural) || a.name.localeCompare(b.name)).map(({ matter }) => matter);
}

/**
 * What needs somebody, and what moves, unless that is not asked for: there can be thousands of it. Each change of an object tells one kind: what
 * the others come to is known.
 */
export function matters(kinds: Readonly<Record<string, readonly KubeObject[]>>, now: number, moving = true): { needs: Matter[]; moves: Matter[] } {
  const [bad, on]: [Matter[], Matter[]] = [[], []];
  for (const [plural, objects] of Object.entries(kinds)) {
    const tally = tallyOf(plural, objects);
    const pools = (plural === "nodes" ? kinds["nodepools"] : undefined) ?? nothing;
    bad.push(...groupOnce(plural, tally.needs, pools), ...group(plural, tally.unknown.filter((object) => now - since(statusOf(plural, object)) >= unknownFor), pools));
    if (moving) on.push(...groupOnce(plural, tally.moves, pools));
  }
  return { needs: sorted(bad, needs), moves: sorted(on, moves) };
}
