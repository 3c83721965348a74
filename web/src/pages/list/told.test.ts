import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../../api/types";
import type { Status, StatusName } from "../../status/status";
import type { TableRow } from "./Row";
import { isOlder, Pairs } from "./told";

const names: readonly StatusName[] = ["ready", "reconciling", "stalled", "paused"];
const statusAt = (version: number): Status => ({ name: names[(version >> 1) % names.length] ?? "ready" });
const objectAt = (version: number): KubeObject => ({ metadata: { name: "web", uid: "u", resourceVersion: String(version) } });
/** A row as the server prints it: its word is that of the version it is from. */
const rowAt = (version: number): TableRow => ({ cells: [statusAt(version).name], object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", uid: "u", resourceVersion: String(version) } } }) as TableRow;

function shown(pairs: Pairs, row: TableRow, object: KubeObject): { word: unknown; mark: StatusName } {
  const one = pairs.row(row, object);
  return { word: one.cells[0], mark: pairs.status(one.object.metadata, object, statusAt(Number(object.metadata.resourceVersion))).name };
}

test("a row does not show the new mark beside the old word", () => {
  const pairs = new Pairs();
  expect(shown(pairs, rowAt(9), objectAt(9))).toEqual({ word: "ready", mark: "ready" });
  // The stream is first: the mark waits for the word of the server's table.
  expect(shown(pairs, rowAt(9), objectAt(10))).toEqual({ word: "ready", mark: "ready" });
  expect(shown(pairs, rowAt(10), objectAt(10))).toEqual({ word: "reconciling", mark: "reconciling" });
  // The table is first: the word waits for the mark.
  expect(shown(pairs, rowAt(12), objectAt(10))).toEqual({ word: "reconciling", mark: "reconciling" });
  expect(shown(pairs, rowAt(12), objectAt(12))).toEqual({ word: "stalled", mark: "stalled" });
});

test("mark and word of a row are of one moment, whichever is told first, and in the end they are the newest", () => {
  // Steps of the stream and of the table; a change of the status between two versions that the stream has told of is not known, so it tells of each.
  fc.assert(fc.property(fc.array(fc.constantFrom("stream", "table", "both"), { maxLength: 30 }), (steps) => {
    const pairs = new Pairs();
    let [object, row, newest] = [8, 8, 8];
    shown(pairs, rowAt(row), objectAt(object));
    for (const step of steps) {
      if (step !== "stream") row = ++newest; else newest = Math.max(newest, object + 1);
      while (step !== "table" && object < newest) {
        object++;
        shown(pairs, rowAt(row), objectAt(object));
      }
      const { word, mark } = shown(pairs, rowAt(row), objectAt(object));
      if (object - row < 16) expect(mark).toBe(word);
    }
    while (object < newest) shown(pairs, rowAt(row), objectAt(++object));
    expect(shown(pairs, rowAt(newest), objectAt(newest))).toEqual({ word: statusAt(newest).name, mark: statusAt(newest).name });
  }));
});

test("an object that was made anew under its name has its own status at once", () => {
  const pairs = new Pairs();
  shown(pairs, rowAt(8), objectAt(8));
  const other: KubeObject = { metadata: { name: "web", uid: "v", resourceVersion: "12" } };
  expect(pairs.status(rowAt(8).object.metadata, other, statusAt(12)).name).toBe("stalled");
});

test("objects that are gone are forgotten, however many came and went", () => {
  const pairs = new Pairs();
  const of = (uid: string) => ({ metadata: { name: "web", uid, resourceVersion: "8" } });
  for (let at = 0; at < 1000; at++) {
    const uids = [`${at}`, `${at + 1}`, `${at + 2}`];
    for (const uid of uids) shown(pairs, { ...rowAt(8), object: { ...rowAt(8).object, ...of(uid) } } as TableRow, of(uid));
    pairs.keep(uids.length, () => uids);
    expect(pairs.size).toBeLessThanOrEqual(6);
  }
});

test("versions are compared as numbers of any length", () => {
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 1n << 64n }), fc.bigInt({ min: 0n, max: 1n << 64n }), (a, b) => { expect(isOlder(String(a), String(b))).toBe(a < b); }));
});
