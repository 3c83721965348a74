import type { KubeObject } from "../api/types";
import { heldUpBy } from "./holds";
import { type Status, type StatusName, statusOf } from "./status";

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

/** What has an owner that is looked at is told by its owner: the Deployment of a PodSet, and pods. */
function isOwned(plural: string, object: KubeObject & { metadata: { ownerReferences?: readonly { kind: string; controller?: boolean }[] } }): boolean {
  return object.metadata.ownerReferences?.some((owner) => owner.controller === true && (owner.kind === "PodSet" || plural === "pods")) === true;
}

function since(status: Status): number {
  const at = status.since === undefined ? Number.NaN : Date.parse(status.since);
  return Number.isNaN(at) ? Number.MAX_SAFE_INTEGER : at;
}

function nameOf(object: KubeObject | undefined): string {
  return `${object?.metadata.namespace ?? ""}/${object?.metadata.name ?? ""}`;
}

/**
 * What needs somebody, and what moves, unless that is not asked for: there can be thousands of it. The worst comes first, then what holds up most others, what has
 * most objects, and the oldest. Objects of a kind with the same reason and message are one row.
 */
export function matters(kinds: Readonly<Record<string, readonly KubeObject[]>>, now: number, moving = true): { needs: Matter[]; moves: Matter[] } {
  const groups = new Map<string, { plural: string; status: Status; objects: KubeObject[]; holds: string[] }>();
  for (const [plural, objects] of Object.entries(kinds)) {
    for (const object of objects) {
      const status = statusOf(plural, object);
      if (!needs.includes(status.name) && !(moving && moves.includes(status.name))) continue;
      if (isOwned(plural, object)) continue;
      if (status.name === "unknown" && now - since(status) < unknownFor) continue;
      const holds = plural === "nodes" && status.name === "stalled" ? heldUpBy(object, kinds["nodepools"] ?? []) : [];
      const key = [plural, status.name, status.reason, status.message ?? nameOf(object), ...holds].join("\n");
      const group = groups.get(key);
      if (group) {
        group.objects.push(object);
        if (since(status) < since(group.status)) group.status = status;
      } else {
        groups.set(key, { plural, status, objects: [object], holds });
      }
    }
  }
  // A time is read once, and not for each comparison.
  const all = [...groups.values()].map((matter) => ({ matter, at: since(matter.status), name: nameOf(matter.objects[0]) }));
  const sorted = (names: readonly StatusName[]) =>
    all.filter(({ matter }) => names.includes(matter.status.name)).sort((a, b) =>
      names.indexOf(a.matter.status.name) - names.indexOf(b.matter.status.name) || b.matter.holds.length - a.matter.holds.length || b.matter.objects.length - a.matter.objects.length ||
      a.at - b.at || a.matter.plural.localeCompare(b.matter.plural) || a.name.localeCompare(b.name)).map(({ matter }) => matter);
  return { needs: sorted(needs), moves: sorted(moves) };
}

/** How the objects of a list are, also those whose owner tells of them elsewhere: a list must not call a pod well that waits. */
export function sums(plural: string, objects: readonly KubeObject[]): { bad: number; moving: number; stopped: number } {
  const of = (...names: readonly StatusName[]) => objects.filter((object) => names.includes(statusOf(plural, object).name)).length;
  return { bad: of(...needs), moving: of(...moves, "deleting"), stopped: of("stopped") };
}

/** How many objects of a kind need somebody, and the worst of them. */
export function worst(plural: string, objects: readonly KubeObject[]): { name: StatusName; count: number } | undefined {
  let name: StatusName | undefined;
  let count = 0;
  for (const object of objects) {
    const status = statusOf(plural, object).name;
    if (!needs.includes(status) || isOwned(plural, object)) continue;
    count++;
    if (name === undefined || needs.indexOf(status) < needs.indexOf(name)) name = status;
  }
  return name && { name, count };
}
