import type { KubeObject } from "../../api/types";
import type { Status } from "../../status/status";
import { heightOf, type Measured } from "./useHeights";

/** A line of the list by its names: its key, and what it and the reason below it are called. A group has no reason. */
export interface Name {
  key: string;
  line: string;
  why: string | undefined;
  /** What its cells are of, where it is a row. */
  of?: KubeObject["metadata"];
}

/** How high each line is, and for which objects that was found out. */
export interface Tall {
  names: readonly Name[];
  measured: Measured;
  objects: (KubeObject | undefined)[];
  moves: boolean[];
  /** How many lines have an object on its way. */
  moving: number;
  /** Another array only if a height is another: where rows begin is added up from it. */
  heights: readonly number[];
}

/**
 * How high each line is, of ten thousand as well: it is asked for each change of any object, and looks again only at those that are others
 * than before.
 */
export function layOut(
  before: Tall | undefined, names: readonly Name[], measured: Measured, at: (key: string) => KubeObject | undefined, judge: (object: KubeObject, of: KubeObject["metadata"] | undefined) => { reason: boolean; name: Status["name"] },
): Tall {
  const known = before?.names === names && before.measured === measured ? before : undefined;
  const out: Tall = known ?? { names, measured, objects: [], moves: [], moving: 0, heights: [] };
  let heights: number[] | undefined = known ? undefined : [];
  names.forEach(({ key, line, why, of }, index) => {
    const object = why === undefined ? undefined : at(key);
    if (known && known.objects[index] === object) return;
    const judged = object && judge(object, of);
    const moves = judged?.name === "reconciling";
    out.moving += Number(moves) - Number(out.moves[index] ?? false);
    out.objects[index] = object;
    out.moves[index] = moves;
    const height = why === undefined ? heightOf(measured, "group", line) : heightOf(measured, "row", line) + (judged?.reason ? heightOf(measured, "why", why) : 0);
    if (!heights && height === out.heights[index]) return;
    heights ??= [...out.heights];
    heights[index] = height;
  });
  if (heights) out.heights = heights;
  return out;
}
