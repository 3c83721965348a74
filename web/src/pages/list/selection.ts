import type { Name } from "./names";

/** A row as it can be selected: what has its name later is another object. */
export type Item = Pick<Name, "key" | "of">;

/** The UIDs of the rows that are selected, by their keys, and the key from which a range goes. */
export interface Selection {
  uids: ReadonlyMap<string, string | undefined>;
  anchor: string | undefined;
}

export const nothing: Selection = { uids: new Map(), anchor: undefined };

export function has({ uids }: Selection, { key, of }: Item): boolean {
  return uids.has(key) && uids.get(key) === of?.uid;
}

/** All of some rows, beside what is selected already. */
export function and({ uids, anchor }: Selection, items: readonly Item[], from = anchor): Selection {
  return { uids: new Map([...uids, ...items.map(({ key, of }) => [key, of?.uid] as const)]), anchor: from };
}

export function toggle(selection: Selection, item: Item): Selection {
  if (!has(selection, item)) return and(selection, [item], item.key);
  const uids = new Map(selection.uids);
  uids.delete(item.key);
  return { uids, anchor: item.key };
}

/** Everything between the anchor and a row, beside what is selected already. */
export function range(selection: Selection, order: readonly Item[], to: string): Selection {
  const at = (of: string | undefined) => order.findIndex(({ key }) => key === of);
  const end = at(to);
  if (end < 0) return selection;
  const from = at(selection.anchor);
  const begin = from < 0 ? end : from;
  return and(selection, order.slice(Math.min(begin, end), Math.max(begin, end) + 1), selection.anchor ?? to);
}

export function isWhole(selection: Selection, order: readonly Item[]): boolean {
  return order.length > 0 && order.every((item) => has(selection, item));
}

export function all(selection: Selection, order: readonly Item[]): Selection {
  return isWhole(selection, order) ? nothing : { ...and(selection, order), anchor: undefined };
}

/** Without rows whose objects are gone, also where another one has its name. */
export function present(selection: Selection, exists: (key: string, uid: string | undefined) => boolean): Selection {
  const uids = new Map([...selection.uids].filter(([key, uid]) => exists(key, uid)));
  return uids.size === selection.uids.size ? selection : { uids, anchor: selection.anchor };
}

/** What is selected, of what there is: the same as before for as long as it is, because commands are made of it. */
export function objects<T extends { metadata: { uid?: string } }>({ uids }: Selection, before: readonly T[], at: (key: string) => T | undefined): readonly T[] {
  const out: T[] = [];
  for (const [key, uid] of uids) {
    const object = at(key);
    if (object !== undefined && object.metadata.uid === uid) out.push(object);
  }
  return out.length === before.length && out.every((object, index) => object === before[index]) ? before : out;
}
