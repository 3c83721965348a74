import { useSyncExternalStore } from "react";

const place = "windlass.letters";
const calls = new Set<() => void>();

/** Whether single letters are keys. Somebody who speaks to their computer, or types with few fingers, turns them off. */
export function lettersOn(): boolean {
  return localStorage.getItem(place) !== "off";
}

export function setLetters(on: boolean): void {
  if (on) localStorage.removeItem(place);
  else localStorage.setItem(place, "off");
  for (const call of calls) call();
}

function subscribe(call: () => void): () => void {
  calls.add(call);
  return () => calls.delete(call);
}

export function useLetters(): boolean {
  return useSyncExternalStore(subscribe, lettersOn);
}

/** Whether a key is typed into something. */
export function isTyped(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

/** Whether a key belongs to an input method that composes: it chooses letters there, and means nothing to the page. Safari tells the last one by its code alone. */
export function isComposed({ isComposing, keyCode }: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return isComposing || keyCode === 229;
}

/** Whether a key is one of the console: not typed into something, not with a modifier, not over a dialog, and no letter that is turned off. */
export function isKey(event: KeyboardEvent): boolean {
  if (isTyped(event.target) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("[role=dialog],[role=alertdialog],[role=menu]")) return false;
  return event.key.length > 1 || event.key === " " || lettersOn();
}
