import fc from "fast-check";
import { expect, test } from "vitest";
import { fromPreview } from "./foreseen";
import { kindOf } from "../../../kinds/registry";
import { answered, isDone, keep, type Kept, keptOf } from "./kept";
import { diffLines } from "./lines";
import { apply, live } from "./orders";
import { covers, reportOn } from "./rehearsal";

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

test("what is applied is what was rehearsed, and nothing that the pool has become since", () => {
  const kind = kindOf("nodepools");
  if (!kind) throw new Error("there is no kind nodepools");
  const known = { priority: 2, dryRun: true };
  const { body, type, kubectl } = apply({ kind, namespace: undefined, name: "p", uid: "1" }, known);
  expect([type, body]).toEqual(["application/json-patch+json", [{ op: "test", path: "/spec", value: known }, { op: "remove", path: "/spec/dryRun" }]]);
  expect(kubectl).toContain('--type=json -p \'[{"op":"test","path":"/spec","value":{"priority":2,"dryRun":true}}');
});

test("a consent to lose pods is to no other spec, and to no more pods", () => {
  const consent = { generation: 4, pods: 5 };
  expect([covers(consent, 4, 5), covers(consent, 4, 3), covers(consent, 4, 500), covers(consent, 5, 5), covers(undefined, 4, 0)]).toEqual([true, true, false, false, false]);
});

function memory(held: Map<string, string>): Storage {
  return { getItem: (key: string) => held.get(key) ?? null, setItem: (key: string, value: string) => void held.set(key, value), removeItem: (key: string) => void held.delete(key), clear: () => held.clear(), key: () => null, length: 0 };
}

test("a change that was closed is there again, unless somebody has changed the pool", () => {
  const held = new Map<string, string>();
  const store = memory(held);
  const pool = { name: "p", uid: "1" };
  const change: Kept = { text: "b", stage: "rehearsed", generation: 3, before: { text: "a", spec: { priority: 1 } }, written: { priority: 2, dryRun: true } };
  keep(pool, change, store);
  const now = (generation: number) => ({ generation, spec: { priority: 3 } });
  expect(keptOf(pool, now(3), store)).toEqual(change);
  expect(keptOf(pool, now(2), store), "an old answer").toEqual(change);
  expect(keptOf(pool, now(4), store), "somebody has changed it since").toBeUndefined();
  expect(keptOf({ ...pool, uid: "2" }, now(3), store), "it is another one of the name").toBeUndefined();
  keep(pool, { text: "a", stage: "edit", generation: 3, before: change.before }, store);
  expect(held.size, "nothing is changed").toBe(0);
});

test("a rehearsal whose answer was lost can be taken back", () => {
  const store = memory(new Map());
  const pool = { name: "p", uid: "1" };
  const spec = { priority: 2, labels: { a: "b" }, dryRun: true };
  const begun = { text: "b", before: { text: "a", spec: { priority: 1 } } };
  const change: Kept = { ...begun, stage: "edit", generation: 3, sent: { text: "b", spec } };
  keep(pool, change, store);
  expect(keptOf(pool, { generation: 3, spec: { priority: 1 } }, store), "it has not arrived yet").toEqual(change);
  expect(keptOf(pool, { generation: 4, spec: { priority: 9 } }, store), "somebody else was first").toBeUndefined();
  const there = { dryRun: true, priority: 2, rollout: undefined, labels: { a: "b" } };
  expect(keptOf(pool, { generation: 4, spec: there }, store)).toEqual({ ...begun, stage: "rehearsed", generation: 4, written: spec });
  keep(pool, { ...change, text: "c" }, store);
  expect(keptOf(pool, { generation: 4, spec: there }, store), "what was typed since stays").toMatchObject({ text: "c", stage: "edit", written: spec });
});

test("what is typed while a rehearsal is under way is not lost with its answer", () => {
  const spec = { priority: 2, dryRun: true };
  const sent: Kept = { text: "b", stage: "edit", generation: 3, before: { text: "a", spec: { priority: 1 } }, sent: { text: "b", spec } };
  expect(answered(sent, 4)).toEqual({ text: "b", stage: "rehearsed", generation: 4, before: sent.before, written: spec });
  expect(answered({ ...sent, text: "bc" }, 4)).toEqual({ text: "bc", stage: "edit", generation: 4, before: sent.before, written: spec });
  const told = answered({ ...sent, text: "bc" }, 4); // by the stream, before the answer
  expect(answered(told, 4)).toEqual(told);
});

test.each([
  ["nothing has come of it yet", 4, { priority: 2, dryRun: true }, false, false],
  ["it is applied", 5, { priority: 2, rollout: undefined }, true, false],
  ["it is discarded", 5, { priority: 1 }, false, true],
  ["somebody else has changed it", 5, { priority: 3 }, false, false],
])("of a rehearsal whose end was not answered it is known that %s", (_, generation, spec, applied, discarded) => {
  const written = { priority: 2, dryRun: true };
  const change: Kept = { text: "b", stage: "rehearsed", generation: 4, before: { text: "a", spec: { priority: 1 } }, written };
  const now = { generation, spec };
  expect([isDone(change, live(written), now), isDone(change, change.before.spec, now)]).toEqual([applied, discarded]);
});
