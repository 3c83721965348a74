import { useSyncExternalStore } from "react";
import { age } from "../status/age";
import { store } from "./store";

let now = store.time;
let timer: ReturnType<typeof setInterval> | undefined;
const calls = new Set<() => void>();

function tick(): void {
  now = store.time;
  for (const call of calls) call();
}

/** One timer for all ages of the page. */
function subscribe(call: () => void): () => void {
  if (calls.size === 0) {
    now = store.time;
    timer = setInterval(tick, 1000);
  }
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size === 0) clearInterval(timer);
  };
}

/** How old something is. Whoever shows it is rendered again only when the words are others. */
export function useAge(since: string | null | undefined): string {
  return useSyncExternalStore(subscribe, () => age(since, now));
}
