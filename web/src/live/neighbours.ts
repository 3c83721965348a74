import type { Plural } from "../api/types";
import { keyOf, store } from "./store";

/** The list that somebody came from: its rows in their order. */
let came: { plural: Plural; order: readonly string[] } | undefined;

export function remember(plural: Plural, order: readonly string[]): void {
  came = { plural, order };
}

/** The objects before and after one, in the list that the reader came from, or else by name. */
export function neighboursOf(plural: Plural, namespace: string | undefined, name: string): { before: string | undefined; after: string | undefined } {
  const key = keyOf({ namespace, name });
  const known = came?.plural === plural && came.order.includes(key) ? came.order : undefined;
  const order = known ?? store.list(plural).map((object) => { const metadata: { namespace?: string; name?: string } = object.metadata ?? {}; return keyOf(metadata); }).sort();
  const at = order.indexOf(key);
  // What is gone by now is passed over.
  const exists = (each: string) => { const slash = each.indexOf("/"); return store.get(plural, each.slice(0, slash) || undefined, each.slice(slash + 1)) !== undefined; };
  return { before: order.slice(0, Math.max(0, at)).findLast(exists), after: at < 0 ? undefined : order.slice(at + 1).find(exists) };
}
