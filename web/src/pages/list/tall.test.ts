import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../../api/types";
import { layOut, type Name, type Tall } from "./tall";
import type { Measured } from "./useHeights";

interface Thing extends KubeObject { reason: boolean; moves: boolean }

const names: Name[] = Array.from({ length: 12 }, (_, at) => (at % 5 === 0 ? { key: `g${at}`, line: `group g${at}`, why: undefined } : { key: `k${at}`, line: `row k${at}`, why: `why k${at}` }));
const measured: Measured = { known: new Map([["row k3", 50]]), usual: { row: 33, why: 24, group: 33 } };
const judge = (object: KubeObject) => {
  const { reason, moves } = object as Thing;
  return { reason, name: moves ? "reconciling" as const : "ready" as const };
};

test("what is laid out after changes is what is laid out from nothing", () => {
  const change = fc.record({ at: fc.nat({ max: names.length - 1 }), gone: fc.boolean(), reason: fc.boolean(), moves: fc.boolean() });
  fc.assert(fc.property(fc.array(fc.array(change)), (rounds) => {
    const objects = new Map<string, Thing>();
    const at = (key: string) => objects.get(key);
    let tall: Tall | undefined;
    for (const round of rounds) {
      for (const { at: place, gone, reason, moves } of round) {
        const key = names[place]?.key ?? "";
        if (gone) objects.delete(key); else objects.set(key, { metadata: { name: key }, reason, moves });
      }
      const before = tall?.heights;
      tall = layOut(tall, names, measured, at, judge);
      const fresh = layOut(undefined, names, measured, at, judge);
      expect({ heights: tall.heights, moving: tall.moving }).toEqual({ heights: fresh.heights, moving: fresh.moving });
      // The same heights are the same array, so that nothing is added up again.
      if (before && before.length === tall.heights.length && before.every((height, index) => height === tall?.heights[index])) expect(tall.heights).toBe(before);
    }
  }));
});
