import { type RefObject, useLayoutEffect, useState } from "react";

/**
 * Whether the table of a panel fits into it. Its head then stays at the top of the page while that is scrolled. A table that is wider is scrolled to the side
 * within its panel, which a browser takes for both directions: its head has nowhere to stay.
 */
export function useFits(panel: RefObject<HTMLElement | null>): boolean {
  const [fits, setFits] = useState(true);
  useLayoutEffect(() => {
    const box = panel.current;
    const table = box?.firstElementChild;
    if (!box || !table) return undefined;
    const look = () => setFits(table.getBoundingClientRect().width <= box.clientWidth + 0.5);
    look();
    const seen = new ResizeObserver(look);
    for (const each of [box, table]) seen.observe(each);
    return () => seen.disconnect();
  }, [panel]);
  return fits;
}
