import { type RefObject, useEffect, useRef, useState } from "react";

/** A part of a row: its own line, or the reason below it. */
export type Part = "row" | "why" | "group";

/** What parts are as high as, where none has been measured, in pixels. */
const usual: Readonly<Record<Part, number>> = { row: 33, why: 24, group: 33 };

/** What is measured: each part by its name, and how high one of its sort usually is. */
export interface Measured {
  /** Goes on from version to version: it can be as large as the list. */
  known: Map<string, number>;
  /** The same object for as long as nothing is another height. */
  usual: Readonly<Record<Part, number>>;
  version: number;
  /** The parts that are of another height than in the version before. */
  fresh: ReadonlySet<string>;
}

export function unmeasured(): Measured {
  return { known: new Map(), usual, version: 0, fresh: new Set() };
}

function middle(values: number[], otherwise: number): number {
  return values.length === 0 ? otherwise : (values.sort((a, b) => a - b)[values.length >> 1] ?? otherwise);
}

/** Takes how high parts in sight are into what is known; the same if nothing is another height. */
export function learn(before: Measured, heights: ReadonlyMap<string, number>): Measured {
  const fresh = [...heights].filter(([name, height]) => height > 0 && Math.abs((before.known.get(name) ?? before.usual[partOf(name)]) - height) > 0.5);
  if (fresh.length === 0) return before;
  for (const [name, height] of fresh) before.known.set(name, height);
  // What is in sight now says how high rows are: a window that was turned has others.
  const now = (part: Part) => middle([...heights].filter(([name, height]) => partOf(name) === part && height > 0).map(([, height]) => height), before.usual[part]);
  const like = { row: now("row"), why: now("why"), group: now("group") };
  const same = Math.max(Math.abs(like.row - before.usual.row), Math.abs(like.why - before.usual.why), Math.abs(like.group - before.usual.group)) <= 0.5;
  return { known: before.known, usual: same ? before.usual : like, version: before.version + 1, fresh: new Set(fresh.map(([name]) => name)) };
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
  const [measured, setMeasured] = useState(unmeasured);
  const latest = useRef(measured);
  const observer = useRef<ResizeObserver>(undefined);
  const watched = useRef(new Set<Element>());
  useEffect(() => {
    const of = watched.current;
    const seen = new ResizeObserver((entries) => {
      const heights = new Map<string, number>();
      // Those that have not changed count for what is usual: a row that wraps and is scrolled into sight alone is not like most of them.
      for (const row of of) { const name = row.getAttribute("data-part"); if (name && row.isConnected) heights.set(name, heightOf(latest.current, partOf(name), name)); }
      for (const { target, borderBoxSize } of entries) {
        const name = target.getAttribute("data-part");
        if (name) heights.set(name, borderBoxSize[0]?.blockSize ?? 0);
      }
      setMeasured((latest.current = learn(latest.current, heights)));
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
