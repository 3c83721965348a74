import { type Order, orders, quoted, type Target } from "../../actions/commands";
import { type Deed, deedsOf } from "../../actions/list";
import type { KubeObject } from "../../api/types";
import { sizeOf } from "../parts/sizing";

/** What is done with one of several objects. */
export interface BulkDeed {
  target: Target;
  deed: Deed;
  /** The sizes that it has and gets, where that is what is done. */
  size?: { before: number; after: number };
}

/** One thing that can be done with several objects: the deed of each of them. */
export interface Bulk {
  key: Deed["key"];
  danger: boolean;
  right: Deed["right"];
  warning: Deed["warning"];
  readonly deeds: readonly BulkDeed[];
  /** Where a size is set: the one to begin with, and the deeds for another one, which take back to the size that each has by then. */
  sizing?: { begin: number; to: (size: number) => readonly BulkDeed[] };
}

/** What can be done with an object, for as long as it is the same: a whole list can be selected, of which a few change each second. */
const known = new WeakMap<KubeObject, readonly BulkDeed[]>();

function deedsFor(target: Target, object: KubeObject): readonly BulkDeed[] {
  let deeds = known.get(object);
  if (!deeds) known.set(object, (deeds = deedsOf(target, object).map((deed) => ({ target, deed }))));
  return deeds;
}

interface Chosen {
  target: Target;
  object: KubeObject;
}

/** Sets all of the objects to one size, if each has one of its own. It begins with the largest of them: with it nobody loses a pod by a slip. now is what an object is by now. */
export function scaling(objects: readonly Chosen[], now: (target: Target) => KubeObject | undefined): Bulk | undefined {
  const own = objects.flatMap(({ target, object }) => { const before = sizeOf(target.kind.plural, object); return before === undefined ? [] : [{ target, before }]; });
  if (own.length === 0 || own.length < objects.length) return undefined;
  const begin = own.reduce((largest, { before }) => Math.max(largest, before), 0);
  const to = (after: number) => own.map(({ target, before: seen }): BulkDeed => {
    const object = now(target);
    const before = (object && sizeOf(target.kind.plural, object)) ?? seen;
    return { target, size: { before, after }, deed: { key: "action.scale", right: "scale", order: orders.scale(target, after), undo: orders.scale(target, before) } };
  });
  let deeds: Bulk["deeds"] | undefined;
  return { key: "action.scale", danger: false, right: "scale", warning: undefined, sizing: { begin, to }, get deeds() { return (deeds ??= to(begin)); } };
}

/** What can be done with all of the objects: a deed that one of them does not have, or that is done with one at a time, is not offered. */
export function bulks(objects: readonly Chosen[]): Bulk[] {
  const each = objects.map(({ target, object }) => deedsFor(target, object));
  const all = (each[0] ?? []).filter(({ deed: { key, alone } }) => !alone && each.every((deeds) => deeds.some(({ deed }) => deed.key === key)));
  return all.map(({ deed: { key, danger = false, right, warning } }): Bulk => {
    let deeds: Bulk["deeds"] | undefined;
    return {
      key, danger, right, warning,
      // Only of what somebody points at or chooses.
      get deeds() { return (deeds ??= each.flatMap((of) => of.filter(({ deed }) => deed.key === key))); },
    };
  });
}

/** The commands of several orders as kubectl takes them: one for the objects of each namespace. */
export function together(all: readonly { target: Target; order: Order }[]): string[] {
  const groups = new Map<string, { before: string; after: string; names: string[] }>();
  for (const { target, order } of all) {
    const name = quoted(target.name);
    const words = ` ${order.kubectl} `;
    const at = words.indexOf(` ${name} `);
    if (at < 0) {
      groups.set(order.kubectl, { before: order.kubectl, after: "", names: [] });
      continue;
    }
    const before = words.slice(1, at);
    const after = words.slice(at + name.length + 2).trimEnd();
    const group = groups.get(`${before}\n${after}`);
    if (group) group.names.push(name);
    else groups.set(`${before}\n${after}`, { before, after, names: [name] });
  }
  return [...groups.values()].map(({ before, after, names }) => [before, ...names, after].filter(Boolean).join(" "));
}

/** Does something for each, a few at a time; each result is told as it is there. Once it is stopped nothing more begins, and what has begun goes on to its end. */
export async function eachOf<T>(
  items: readonly T[], act: (item: T) => Promise<unknown>, told: (item: T, failed: Error | undefined) => void, { atOnce = 4, stopped }: { atOnce?: number; stopped?: AbortSignal } = {},
): Promise<void> {
  const queue = [...items];
  const next = () => (stopped?.aborted ? undefined : queue.shift());
  const worker = async () => {
    for (let item = next(); item !== undefined; item = next()) {
      const one = item;
      await act(one).then(() => told(one, undefined), (cause: unknown) => told(one, cause instanceof Error ? cause : new Error(String(cause))));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
