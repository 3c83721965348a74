import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../../api/types";
import type { Name } from "./names";
import { layOut, type Tall } from "./tall";
import { learn, type Measured, unmeasured } from "./useHeights";

interface Thing extends KubeObject { reason: boolean; moves: boolean }

const names: Name[] = Array.from({ length: 12 }, (_, at) => (at % 5 === 0 ? { key: `g${at}`, line: `group g${at}`, why: undefined } : { key: `k${at}`, line: `row k${at}`, why: `why k${at}` }));
const measured: Measured = learn(unmeasured(), new Map([["row k1", 33], ["row k2", 33], ["row k3", 50]]));
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

test("lines that come, go, move, are read again or measured are laid out as from nothing", () => {
  const thing = fc.record({ reason: fc.boolean(), moves: fc.boolean() });
  const step = fc.record({
    put: fc.dictionary(fc.constantFrom("k1", "k2", "k3", "k4"), thing), cut: fc.nat({ max: names.length }), turn: fc.nat({ max: names.length }), again: fc.boolean(),
    heights: fc.dictionary(fc.constantFrom("row k1", "row k2", "why k3", "group g5"), fc.constantFrom(24, 33, 50)), wait: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
    const objects = new Map<string, Thing>();
    const at = (key: string) => objects.get(key);
    let known = unmeasured();
    let tall: Tall | undefined;
    for (const { put, cut, turn, again, heights, wait } of steps) {
      for (const [key, of] of Object.entries(put)) objects.set(key, { metadata: { name: key }, ...of });
      known = learn(known, new Map(Object.entries(heights)));
      if (wait) continue; // as where two measurements are drawn at once
      const lines = [...names.slice(turn), ...names.slice(0, turn)].slice(0, cut).map((name) => (again ? { ...name } : name));
      const before = tall?.heights;
      tall = layOut(tall, lines, known, at, judge);
      const fresh = layOut(undefined, lines, known, at, judge);
      expect({ heights: tall.heights, moving: tall.moving }).toEqual({ heights: fresh.heights, moving: fresh.moving });
      if (before && before.length === tall.heights.length && before.every((height, index) => height === tall?.heights[index])) expect(tall.heights).toBe(before);
    }
  }));
});

test("of ten thousand rows only those are judged that are read again or have another object", () => {
  const many: Name[] = Array.from({ length: 10_000 }, (_, at) => ({ key: `k${at}`, line: `row k${at}`, why: `why k${at}` }));
  const objects = new Map(many.map(({ key }) => [key, { metadata: { name: key }, reason: false, moves: false }]));
  let judged = 0;
  const count = (object: KubeObject) => { judged++; return judge(object); };
  const first = layOut(undefined, many, unmeasured(), (key) => objects.get(key), count);
  judged = 0;
  const next = [{ key: "new", line: "row new", why: "why new" }, ...many.map((name, at) => (at < 500 ? { ...name } : name))];
  objects.set("k9000", { metadata: { name: "k9000" }, reason: true, moves: true });
  const second = layOut(first, next, first.measured, (key) => objects.get(key), count);
  expect([judged, second.moving, second.heights[9001]]).toEqual([501, 1, 57]);
});
