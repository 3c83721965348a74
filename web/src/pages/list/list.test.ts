import fc from "fast-check";
import { expect, test } from "vitest";
import { orders, type Target } from "../../actions/commands";
import { kindOf, type Kind } from "../../kinds/registry";
import { bulks, eachOf, scaling, together } from "./bulk";
import { allColumns, chosen, type Column, toggled } from "./columns";
import { entered, joined, parse, requirements, tokensOf, without } from "./filter";
import { lines } from "./groups";
import { tooLong } from "./limits";
import { all, isWhole, nothing, objects, present, range, toggle } from "./selection";
import { offsets, pieces } from "./window";

const column = (name: string, priority = 0): Column => ({ name, priority, type: "string", format: "", description: "" });
const columns = allColumns("nodes", [column("Name"), column("Namespace"), column("Status"), column("Version", 1)]);

test("columns of lower priority are off until they are chosen, and the usual choice is no choice", () => {
  expect(chosen(columns, undefined).map((each) => each.name)).toEqual(["Name", "Status", "CPU", "Memory", "Pools", "Taints"]);
  const more = toggled(columns, undefined, "Version");
  expect(more).toBe("Name,Status,Version,CPU,Memory,Pools,Taints");
  expect(toggled(columns, more, "Version")).toBeUndefined();
  expect(chosen(columns, "Gone").map((each) => each.name)).toEqual(["Name"]);
});

test("only what is in sight is in the page, and the row with the focus", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom(32, 56), { maxLength: 300 }), fc.nat(9000), fc.integer({ min: -1, max: 320 }), (heights, top, focused) => {
    const starts = offsets(heights);
    const shown = pieces(starts, top, top + 400, focused);
    const drawn = shown.pieces.reduce((sum, piece) => sum + piece.gap + (heights[piece.index] ?? 0), 0) + shown.rest;
    expect(drawn).toBe(starts.at(-1));
    if (focused >= 0 && focused < heights.length) expect(shown.pieces.some((piece) => piece.index === focused)).toBe(true);
    heights.forEach((height, index) => {
      const begin = starts[index] ?? 0;
      if (begin < top + 400 && begin + height > top) expect(shown.pieces.some((piece) => piece.index === index)).toBe(true);
    });
  }));
});

test("a range goes from the row that was chosen last", () => {
  const order = ["a", "b", "c", "d"].map((key) => ({ key }));
  const one = toggle(nothing, { key: "c" });
  expect([...range(one, order, "a").uids.keys()].sort()).toEqual(["a", "b", "c"]);
  expect(all(one, order).uids.size).toBe(4);
  expect(all(all(one, order), order).uids.size).toBe(0);
});

test("what is made anew under the name of a selected object is not selected", () => {
  const pod = (name: string, uid: string) => ({ metadata: { namespace: "ci", name, uid } });
  const item = ({ metadata }: ReturnType<typeof pod>) => ({ key: metadata.name, of: metadata });
  const [old, other, anew] = [pod("db-0", "old"), pod("db-1", "one"), pod("db-0", "new")];
  const both = all(nothing, [old, other].map(item));
  const now = new Map([anew, other].map((each) => [each.metadata.name, each]));
  expect(objects(both, [], (key) => now.get(key)), "what an action is done with").toEqual([other]);
  const left = present(both, (key, uid) => now.get(key)?.metadata.uid === uid);
  expect([...left.uids]).toEqual([["db-1", "one"]]);
  expect([both, left].map((each) => isWhole(each, [anew, other].map(item))), "the box of all").toEqual([false, false]);
  expect([...toggle(both, item(anew)).uids]).toEqual([["db-0", "new"], ["db-1", "one"]]);
  expect(present(left, () => true)).toBe(left);
});

test("groups have their line, closed ones only that, and rows of no group come last", () => {
  const found = lines(["x1", "a1", "a2", "-"], (row) => (row === "-" ? "" : row.charAt(0)), new Set(["x"]));
  expect(found.map((line) => ("row" in line ? `${line.index} ${line.row}` : `${line.group}:${line.count}`))).toEqual(["a:2", "0 a1", "1 a2", "x:1", ":1", "2 -"]);
});

test("tokens can be taken away one by one", () => {
  const filter = joined(parse("web -l 'zone in (a,b)',app=web"), parse("--field-selector a=b -l tier!=db"));
  expect(tokensOf(filter).map((token) => token.value)).toEqual(["zone in (a,b)", "app=web", "tier!=db", "a=b"]);
  expect(without(filter, { flag: "-l", value: "app=web" })).toEqual({ words: "web", labels: "zone in (a,b),tier!=db", fields: "a=b" });
  fc.assert(fc.property(fc.string(), (selector) => { for (const one of requirements(selector)) expect(requirements(one)).toEqual([one]); }));
});

test.each([
  ["the words around a selector stay in the field", "", "web -l a=b db", "-l a=b", "web db"],
  ["a second selector joins the first", "-l a=b", "-l c=d", "-l a=b,c=d", ""],
  ["a selector that is there already is there once", "-l a=b,c=d", "-l c=d", "-l a=b,c=d", ""],
  ["a line without a selector stays as it is typed", "-l a=b", "web 'x y", "-l a=b", "web 'x y"],
  ["a flag without a value waits for it", "", "web -l", "", "web -l"],
])("after Enter %s", (_, before, typed, after, left) => {
  const made = entered(parse(before), typed);
  expect({ ...made.filter, left: made.left }).toEqual({ ...parse(after), words: parse(typed).words, left });
});

test("what is too long is said before it is sent", () => {
  expect(tooLong(parse("a".repeat(257)))).toEqual({ part: "filter.words", length: 257, most: 256 });
  expect(tooLong(parse("a".repeat(256)))).toBeUndefined();
});

const known = (plural: string): Kind => { const kind = kindOf(plural); if (!kind) throw new Error(plural); return kind; };
const machine = (name: string, namespace: string, runStrategy = "Always") => {
  const target: Target = { kind: known("virtualmachines"), namespace, name, uid: name };
  return { target, object: { metadata: { name, namespace }, spec: { runStrategy } } };
};

test("the command for several is one for each namespace", () => {
  const several = [machine("a", "ci"), machine("b", "ci"), machine("c", "lab")].map(({ target }) => ({ target, order: orders.power(target, "off") }));
  expect(together(several)).toEqual([
    `kubectl patch virtualmachine a b -n ci --type=merge -p '{"spec":{"runStrategy":"Halted"}}'`,
    `kubectl patch virtualmachine c -n lab --type=merge -p '{"spec":{"runStrategy":"Halted"}}'`,
  ]);
});

test("only what all of them can do is offered", () => {
  expect(bulks([machine("a", "ci"), machine("b", "ci")]).map((bulk) => bulk.key)).toContain("action.stop");
  expect(bulks([machine("a", "ci"), machine("b", "ci", "Halted")]).map((bulk) => bulk.key)).not.toContain("action.stop");
});

const sizable = (plural: "podsets" | "deployments", name: string, namespace: string, size: number, owned = false) => {
  const target: Target = { kind: known(plural), namespace, name, uid: name };
  const metadata = { name, namespace, ...(owned ? { ownerReferences: [{ controller: true }] } : {}) };
  return { target, object: { metadata, spec: plural === "podsets" ? { size } : { replicas: size } } };
};
const unseen = () => undefined;

test("several are scaled with one command for each namespace, and begin with the largest size", () => {
  const bulk = scaling([sizable("podsets", "a", "ci", 3), sizable("podsets", "b", "ci", 0), sizable("podsets", "c", "lab", 6)], unseen);
  const commands = (deeds = bulk?.deeds ?? []) => together(deeds.map(({ target, deed }) => ({ target, order: deed.order })));
  expect(commands()).toEqual(["kubectl scale podset a b -n ci --replicas=6", "kubectl scale podset c -n lab --replicas=6"]);
  expect(commands(bulk?.sizing?.to(2))).toEqual(["kubectl scale podset a b -n ci --replicas=2", "kubectl scale podset c -n lab --replicas=2"]);
  expect(bulk?.deeds.map(({ deed: { order } }) => [order.method, order.body, new URL(order.path, "http://console").searchParams.get("uid")])).toEqual(["a", "b", "c"].map((uid) => ["PATCH", { replicas: 6 }, uid]));
});

test("each is taken back to the size that it had when it was scaled", () => {
  const bulk = scaling([sizable("deployments", "a", "ci", 3), sizable("deployments", "b", "ci", 0)], ({ name }) => (name === "a" ? sizable("deployments", "a", "ci", 4).object : undefined));
  expect(bulk?.sizing?.to(2).map(({ size, deed }) => [size, deed.undo?.body])).toEqual([[{ before: 4, after: 2 }, { replicas: 4 }], [{ before: 0, after: 2 }, { replicas: 0 }]]);
});

test("only objects that have a size of their own are scaled together", () => {
  expect(scaling([sizable("deployments", "a", "ci", 3), sizable("deployments", "b", "ci", 3, true)], unseen)).toBeUndefined();
  expect(scaling([machine("a", "ci")], unseen)).toBeUndefined();
  expect(scaling([], unseen)).toBeUndefined();
});

test("each result is told, also of those that fail", async () => {
  const told: string[] = [];
  await eachOf([1, 2, 3, 4, 5, 6], async (item) => { await Promise.resolve(); if (item % 2 === 0) throw new Error("no"); }, (item, failed) => told.push(`${item}${failed ? "!" : ""}`), { atOnce: 2 });
  expect(told.sort()).toEqual(["1", "2!", "3", "4!", "5", "6!"]);
});

test("what is stopped goes on until everything was sent", async () => {
  const stop = new AbortController();
  const sent: number[] = [];
  const told: number[] = [];
  await eachOf(Array.from({ length: 20 }, (_, at) => at), async (item) => { sent.push(item); await Promise.resolve(); }, (item) => {
    told.push(item);
    if (told.length === 5) stop.abort();
  }, { stopped: stop.signal });
  expect(told, "what was sent is told to its end").toEqual(sent);
  expect(sent.length).toBeLessThanOrEqual(8);
});
