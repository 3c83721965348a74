/** The keys of rows that are selected, and the one from which a range goes. */
export interface Selection {
  keys: ReadonlySet<string>;
  anchor: string | undefined;
}

export const nothing: Selection = { keys: new Set(), anchor: undefined };

export function toggle(selection: Selection, key: string): Selection {
  const keys = new Set(selection.keys);
  if (!keys.delete(key)) keys.add(key);
  return { keys, anchor: key };
}

/** Everything between the anchor and a row, beside what is selected already. */
export function range(selection: Selection, order: readonly string[], to: string): Selection {
  const end = order.indexOf(to);
  const from = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor);
  if (end < 0) return selection;
  const begin = from < 0 ? end : from;
  return { keys: new Set([...selection.keys, ...order.slice(Math.min(begin, end), Math.max(begin, end) + 1)]), anchor: selection.anchor ?? to };
}

export function all(selection: Selection, order: readonly string[]): Selection {
  const whole = order.every((key) => selection.keys.has(key));
  return whole ? nothing : { keys: new Set([...selection.keys, ...order]), anchor: undefined };
}

/** Without rows that are gone. */
export function present(selection: Selection, exists: (key: string) => boolean): Selection {
  const keys = new Set([...selection.keys].filter(exists));
  return keys.size === selection.keys.size ? selection : { keys, anchor: selection.anchor };
}

/** What is selected, of what there is: the same as before for as long as it is, because commands are made of it. */
export function objects<T>(selection: Selection, before: readonly T[], at: (key: string) => T | undefined): readonly T[] {
  const out: T[] = [];
  for (const key of selection.keys) {
    const object = at(key);
    if (object !== undefined) out.push(object);
  }
  return out.length === before.length && out.every((object, index) => object === before[index]) ? before : out;
}
