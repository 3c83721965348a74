import fc from "fast-check";
import { expect, test } from "vitest";
import { fromPreview } from "./foreseen";
import { keep, type Kept, keptOf } from "./kept";
import { diffLines } from "./lines";
import { reportOn } from "./rehearsal";

test("the same change of several nodes is one line, and what goes stands before what comes", () => {
  const node = (name: string) => ({
    name, membership: "Stays" as const, drains: false, conflicts: [{ key: "label c", wants: "1", has: "2" }],
    changes: [{ key: "label a", before: "1", after: "2" }, { key: "taint edge:NoExecute", after: "yes" }],
  });
  const preview = { pool: "p", creates: false, held: false, dryRun: false, members: 2, joining: 0, leaving: 0, changed: 2, braked: false, waiting: 0, pods: [], podCount: 0, nodes: [node("a"), node("b")] };
  expect(fromPreview(preview as never)).toEqual({
    labels: [{ sign: "−", text: "a=1", nodes: 2 }, { sign: "+", text: "a=2", nodes: 2 }], annotations: [],
    taints: [{ sign: "+", text: "edge=yes:NoExecute", nodes: 2 }], lost: ["label c"],
  });
});

test("a diff has all lines of both texts in their order", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1 }).map((lines) => lines.join("\n"));
  fc.assert(fc.property(text, text, (before, after) => {
    const diff = diffLines(`${before}\n`, `${after}\n`);
    expect(diff.filter((line) => line.sign !== "+").map((line) => line.text).join("\n")).toBe(before);
    expect(diff.filter((line) => line.sign !== "−").map((line) => line.text).join("\n")).toBe(after);
  }));
  expect(diffLines("a\n", "a\n")).toEqual([{ sign: " ", text: "a" }]);
});

test.each([
  ["of the rehearsal before, which the stream has told of last", { generation: 4, observed: 4, written: 5, dryRun: true }, false],
  ["of the rehearsal before, which the controllers have seen last", { generation: 5, observed: 4, written: 5, dryRun: true }, false],
  ["of a spec that somebody has changed since", { generation: 6, observed: 5, written: 5, dryRun: true }, false],
  ["of a pool that rehearses no more", { generation: 5, observed: 5, written: 5, dryRun: false }, false],
  ["of this rehearsal", { generation: 5, observed: 5, written: 5, dryRun: true }, true],
  ["of a rehearsal that changes nothing", { generation: 4, observed: 4, written: 4, dryRun: true }, true],
])("a report %s counts as it must", (_, { generation, observed, written, dryRun }, counts) => {
  const report = { affectedNodes: 1 };
  const pool = { metadata: { name: "p", generation }, spec: { dryRun }, status: { observedGeneration: observed, dryRun: report } };
  expect(reportOn(pool as never, written)).toBe(counts ? report : undefined);
});

test("a change that was closed is there again, unless somebody has changed the pool", () => {
  const held = new Map<string, string>();
  const store = { getItem: (key: string) => held.get(key) ?? null, setItem: (key: string, value: string) => void held.set(key, value), removeItem: (key: string) => void held.delete(key), clear: () => held.clear(), key: () => null, length: 0 };
  const pool = { name: "p", uid: "1" };
  const change: Kept = { text: "b", stage: "rehearsed", generation: 3, before: { text: "a", spec: { priority: 1 } }, written: { priority: 2, dryRun: true } };
  keep(pool, change, store);
  expect(keptOf(pool, 3, store)).toEqual(change);
  expect(keptOf(pool, 2, store), "an old answer").toEqual(change);
  expect(keptOf(pool, 4, store), "somebody has changed it since").toBeUndefined();
  expect(keptOf({ ...pool, uid: "2" }, 3, store), "it is another one of the name").toBeUndefined();
  keep(pool, { text: "a", stage: "edit", generation: 3, before: change.before }, store);
  expect(held.size, "nothing is changed").toBe(0);
});
