import type { KubeObject } from "../../api/types";
import type { Status } from "../../status/status";
import type { Name } from "./names";
import { heightOf, type Measured } from "./useHeights";

/** How high each line is, and for which objects that was found out. */
export interface Tall {
  names: readonly Name[];
  measured: Measured;
  objects: (KubeObject | undefined)[];
  reasons: boolean[];
  moves: boolean[];
  /** How many lines have an object on its way. */
  moving: number;
  /** Another array only if a height is another: where rows begin is added up from it. */
  heights: readonly number[];
}

/** Where each line was before, if it is the same. Most are where they were; the others are looked up, which is prepared where there is one. */
function placesIn(before: Tall | undefined): (name: Name, index: number) => number | undefined {
  let moved: Map<Name, number> | undefined;
  return (name, index) => {
    const there = before?.names[index];
    if (!before || there === name) return before && index;
    if (there?.key === name.key) return undefined; // it was read again
    moved ??= new Map(before.names.map((each, at) => [each, at]));
    return moved.get(name);
  };
}

/** Whether a height may be another than before, of a line that is not. */
function remeasured(before: Tall | undefined, measured: Measured): (name: Name) => boolean {
  if (before?.measured === measured) return () => false;
  if (before?.measured.usual !== measured.usual || before.measured.version + 1 !== measured.version) return () => true;
  return ({ line, why }) => measured.fresh.has(line) || (why !== undefined && measured.fresh.has(why));
}

type Judge = (object: KubeObject, of: KubeObject["metadata"] | undefined) => { reason: boolean; name: Status["name"] };

function heightOfLine(measured: Measured, { line, why }: Name, reason: boolean): number {
  return why === undefined ? heightOf(measured, "group", line) : heightOf(measured, "row", line) + (reason ? heightOf(measured, "why", why) : 0);
}

/**
 * How high each line is, of ten thousand as well: it is asked for each change of any object, and when a page is read again, and looks only at
 * those that are others than before.
 */
export function layOut(before: Tall | undefined, names: readonly Name[], measured: Measured, at: (key: string) => KubeObject | undefined, judge: Judge): Tall {
  if (before?.names === names && before.measured === measured) return lookAgain(before, at, judge);
  const place = placesIn(before);
  const changes = remeasured(before, measured);
  const out: Tall = { names, measured, objects: [], reasons: [], moves: [], moving: 0, heights: [] };
  const heights: number[] = [];
  let same = before?.heights.length === names.length;
  names.forEach((name, index) => {
    const object = name.why === undefined ? undefined : at(name.key);
    const old = place(name, index);
    const known = old !== undefined && before?.objects[old] === object ? old : undefined;
    const judged = known === undefined && object ? judge(object, name.of) : undefined;
    const reason = known === undefined ? judged?.reason === true : before?.reasons[known] === true;
    const moves = known === undefined ? judged?.name === "reconciling" : before?.moves[known] === true;
    const height = (known === undefined || changes(name) ? undefined : before?.heights[known]) ?? heightOfLine(measured, name, reason);
    out.objects.push(object);
    out.reasons.push(reason);
    out.moves.push(moves);
    out.moving += Number(moves);
    heights.push(height);
    same &&= before?.heights[index] === height;
  });
  out.heights = before && same ? before.heights : heights;
  return out;
}

/** The same lines, some of which have another object: what is known of them is changed where it is, several times a second. */
function lookAgain(of: Tall, at: (key: string) => KubeObject | undefined, judge: Judge): Tall {
  let heights: number[] | undefined;
  of.names.forEach((name, index) => {
    const object = name.why === undefined ? undefined : at(name.key);
    if (of.objects[index] === object) return;
    const judged = object && judge(object, name.of);
    const reason = judged?.reason === true;
    const moves = judged?.name === "reconciling";
    of.moving += Number(moves) - Number(of.moves[index]);
    of.objects[index] = object;
    of.reasons[index] = reason;
    of.moves[index] = moves;
    const height = heightOfLine(of.measured, name, reason);
    if (!heights && height === of.heights[index]) return;
    heights ??= [...of.heights];
    heights[index] = height;
  });
  if (heights) of.heights = heights;
  return of;
}
