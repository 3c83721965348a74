import { useSyncExternalStore } from "react";
import { age } from "../status/age";
import { store } from "./store";

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const calls = new Set<() => void>();

function tick(): void {
  // Ages stand still while the stream is cut: they are those of what is shown.
  if (store.link === "cut") return;
  now = Date.now();
  for (const call of calls) call();
}

/** One timer for all ages of the page. */
function subscribe(call: () => void): () => void {
  if (calls.size === 0) {
    if (store.link !== "cut") now = Date.now();
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
