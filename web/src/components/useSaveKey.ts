import { useEffect, useRef } from "react";

/** What the key does at one place of the page. within is in how many dialogs that place is. */
interface Saver {
  save: () => void;
  within: number;
}

/** The newest is the last: a dialog comes after the page that it lies over. */
const savers: Saver[] = [];

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "repeat" | "defaultPrevented" | "preventDefault">;

/** Has Ctrl S do something, until the call that is returned. */
export function offerSave(saver: Saver): () => void {
  savers.push(saver);
  return () => { savers.splice(savers.indexOf(saver), 1); };
}

/** Does what the newest place does, unless it lies under one of the dialogs that are open. A key that is held down is pressed once. */
export function pressSave(event: Press, dialogs: number): void {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.defaultPrevented) return;
  const newest = savers.at(-1);
  if (!newest) return;
  event.preventDefault(); // a browser would save the page
  if (!event.repeat && newest.within >= dialogs) newest.save();
}

const listen = (event: KeyboardEvent) => pressSave(event, document.querySelectorAll("[role=dialog],[role=alertdialog]").length);

/** Has Ctrl S, or Cmd S, do what a button does, that of a dialog where it is in one. The editor takes the key itself where it has the focus. */
export function useSaveKey(save: () => void, within = 0): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    document.addEventListener("keydown", listen); // once, however often
    return offerSave({ save: () => latest.current(), within });
  }, [within]);
}
