import { type Order, quoted, type Target } from "../../actions/commands";
import { type Deed, deedsOf } from "../../actions/list";
import type { KubeObject } from "../../api/types";

/** One thing that can be done with several objects: the deed of each of them. */
export interface Bulk {
  key: Deed["key"];
  danger: boolean;
  right: Deed["right"];
  warning: Deed["warning"];
  readonly deeds: readonly { target: Target; deed: Deed }[];
}

/** What can be done with an object, for as long as it is the same: a whole list can be selected, of which a few change each second. */
const known = new WeakMap<KubeObject, readonly Bulk["deeds"][number][]>();

function deedsFor(target: Target, object: KubeObject): readonly Bulk["deeds"][number][] {
  let deeds = known.get(object);
  if (!deeds) known.set(object, (deeds = deedsOf(target, object).map((deed) => ({ target, deed }))));
  return deeds;
}

/** What can be done with all of the objects: a deed that one of them does not have, or that is done with one at a time, is not offered. */
export function bulks(objects: readonly { target: Target; object: KubeObject }[]): Bulk[] {
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
export function together(orders: readonly { target: Target; order: Order }[]): string[] {
  const groups = new Map<string, { before: string; after: string; names: string[] }>();
  for (const { target, order } of orders) {
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
