import { type FocusEvent, useCallback, useState } from "react";

/** Whether pointer or focus is in a part of a page, with what tells so. A part that is taken away tells nothing, and is let go by who takes it away. */
export function useHolding() {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const letGo = useCallback(() => { setPointed(false); setFocused(false); }, []);
  /** For a button that goes with its press, and takes the focus with it. */
  const unfocus = useCallback(() => setFocused(false), []);
  const holds = {
    onPointerEnter: () => setPointed(true), onPointerLeave: () => setPointed(false), onFocus: () => setFocused(true),
    onBlur: (event: FocusEvent) => { if (!event.currentTarget.contains(event.relatedTarget)) setFocused(false); },
  };
  return { held: pointed || focused, holds, letGo, unfocus };
}
