import { type RefObject, useEffect, useRef, useState } from "react";

/** A part of a row: its own line, or the reason below it. */
export type Part = "row" | "why" | "group";

/** What parts are as high as, where none has been measured, in pixels. */
const usual: Readonly<Record<Part, number>> = { row: 33, why: 24, group: 33 };

/** What is measured: each part by its name, and how high one of its sort usually is. */
export interface Measured {
  known: ReadonlyMap<string, number>;
  usual: Readonly<Record<Part, number>>;
}

function middle(values: number[], otherwise: number): number {
  return values.length === 0 ? otherwise : (values.sort((a, b) => a - b)[values.length >> 1] ?? otherwise);
}

/** Takes what has been measured into what is known; the same if nothing is another height. */
export function learn(before: Measured, heights: ReadonlyMap<string, number>): Measured {
  const fresh = [...heights].filter(([name, height]) => height > 0 && Math.abs((before.known.get(name) ?? before.usual[partOf(name)]) - height) > 0.5);
  if (fresh.length === 0) return before;
  const known = new Map([...before.known, ...fresh]);
  // What is in sight now says how high rows are: a window that was turned has others.
  const now = (part: Part) => middle([...heights].filter(([name, height]) => partOf(name) === part && height > 0).map(([, height]) => height), before.usual[part]);
  return { known, usual: { row: now("row"), why: now("why"), group: now("group") } };
}

function partOf(name: string): Part {
  return name.startsWith("why ") ? "why" : name.startsWith("group ") ? "group" : "row";
}

/** How high a part is, by its name: that of a row is "row", a space and its key. */
export function heightOf({ known, usual: like }: Measured, part: Part, name: string): number {
  return known.get(name) ?? like[part];
}

/**
 * How high the rows in the page are. The browser says so when it has laid them out, which costs no layout of its own; rows that wrap, and
 * those of a phone, are as high as they are.
 */
export function useHeights(body: RefObject<HTMLElement | null>): Measured {
  const [measured, setMeasured] = useState<Measured>({ known: new Map(), usual });
  const observer = useRef<ResizeObserver>(undefined);
  const watched = useRef(new Set<Element>());
  useEffect(() => {
    const of = watched.current;
    const seen = new ResizeObserver((entries) => {
      const heights = new Map<string, number>();
      for (const { target, borderBoxSize } of entries) {
        const name = target.getAttribute("data-part");
        if (name) heights.set(name, borderBoxSize[0]?.blockSize ?? 0);
      }
      setMeasured((before) => learn(before, heights));
    });
    observer.current = seen;
    return () => { seen.disconnect(); of.clear(); observer.current = undefined; };
  }, []);
  // Rows come and go with every scroll: those that are new are watched from now on.
  useEffect(() => {
    for (const gone of [...watched.current].filter((each) => !each.isConnected)) { observer.current?.unobserve(gone); watched.current.delete(gone); }
    for (const row of body.current?.querySelectorAll("tr[data-part]") ?? []) {
      if (watched.current.has(row)) continue;
      watched.current.add(row);
      observer.current?.observe(row);
    }
  });
  return measured;
}
