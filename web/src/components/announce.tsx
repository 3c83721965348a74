import { useSyncExternalStore } from "react";

let said = "";
/** The language of what was said: it stays there when somebody changes the language of the page. */
let language = "";
const calls = new Set<() => void>();

/** Says something to screen readers, when they have finished what they read. The page has one place for it. */
export function announce(text: string): void {
  // The same text twice is no change, and would not be read.
  language = document.documentElement.lang;
  said = text === said ? `${text}\u00a0` : text;
  for (const call of calls) call();
}

function subscribe(call: () => void): () => void {
  calls.add(call);
  return () => calls.delete(call);
}

export function Announcer() {
  return <div className="sr" role="status" aria-live="polite" lang={language || undefined}>{useSyncExternalStore(subscribe, () => said)}</div>;
}
