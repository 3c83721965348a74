import type { MouseEvent } from "react";

/** Whether a button was pressed with a key: whoever uses the pointer has not been in the list, and must not hold it by a focus that comes back. */
export function byKey(event: MouseEvent): boolean {
  return event.detail === 0;
}

/** Gives the focus to the row of an object, or where that is not in the page to the row that Tab leads to. */
export function focusRow(key?: string): void {
  const row = key === undefined ? null : document.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"]`);
  (row ?? document.querySelector<HTMLElement>("tr[data-key][tabindex='0']"))?.focus();
}
