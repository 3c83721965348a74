import { expect, test } from "vitest";
import type { Objects } from "../api/types";
import { cellAt, geometry, stepFrom } from "./geometry";
import { model } from "./model";
import { linesOf } from "./rows";
import { stretches } from "./stretches";
import { tiesOf } from "./ties";

type Node = Objects["nodes"];
type Pool = Objects["nodepools"];

function node(name: string, pools: readonly string[], ready = true, labels: Record<string, string> = {}): Node {
  return {
    apiVersion: "v1", kind: "Node",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z", labels: { ...Object.fromEntries(pools.map((pool) => [`nodepool.node-restriction.kubernetes.io/${pool}`, ""])), "topology.kubernetes.io/zone": `z${name.length % 2}`, ...labels } },
    status: { allocatable: { cpu: "4", memory: "8Gi" }, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  } as Node;
}

function pool(name: string, labels: Record<string, string> = {}): Pool {
  return { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" }, spec: { labels } } as Pool;
}

const many = (count: number) => Array.from({ length: count }, (_, at) => node(`n-${String(at).padStart(6, "0")}`, at % 3 === 0 ? ["a"] : at % 3 === 1 ? ["a", "b"] : ["b"]));
const ab = [pool("a"), pool("b")];

test.each([20, 400, 5000])("each of %d cells is found where it is drawn, and arrows lead to cells", (count) => {
  for (const [room, turned] of [[358, true], [640, false], [1100, false]] as const) {
    const drawn = geometry(model(many(count), ab, [], false).layout, room, turned, turned ? 40 : 0);
    expect(Math.max(...drawn.cells.map((cell) => cell.x + cell.width))).toBeLessThanOrEqual(Math.max(drawn.width, room) + 1);
    drawn.cells.forEach((cell, at) => expect(cellAt(drawn, cell.x + cell.width / 2, cell.y + cell.height / 2)).toBe(at));
    expect(drawn.cells.flatMap((cell) => cell.nodes)).toHaveLength(count);
    expect(stepFrom(drawn, 0, "ArrowLeft")).toBe(0);
    const right = stepFrom(drawn, 0, "ArrowRight");
    if (count > 1 && !drawn.turned) expect(stepFrom(drawn, right, "ArrowLeft")).toBe(0);
    expect(stepFrom(drawn, 0, "End")).toBe(drawn.cells.length - 1);
  }
});

test("small cells fit into the room they have", () => {
  expect(geometry(model(many(5000), ab, [], false).layout, 900).width).toBeLessThanOrEqual(901);
});

test("above 8,000 nodes a cell stands for several, and takes the worst of them", () => {
  const nodes = many(20_000);
  nodes[7] = node("n-000007", ["a", "b"], false);
  const drawn = geometry(model(nodes, ab, [], false).layout, 1100);
  expect(drawn.each).toBe(3);
  expect(drawn.cells.length).toBeLessThanOrEqual(6669);
  expect(drawn.cells.filter((cell) => cell.node.notReady)).toHaveLength(1);
});

test("more than ten pools: nine have a line, and one line is for the others", () => {
  const pools = Array.from({ length: 14 }, (_, at) => pool(`p${at}`));
  const nodes = pools.flatMap((each, at) => Array.from({ length: at + 1 }, (_, index) => node(`n${at}-${index}`, [each.metadata.name ?? ""])));
  const { rows, layout } = model(nodes, pools, [], false);
  const lines = linesOf(rows);
  expect(lines).toHaveLength(10);
  expect(lines.at(-1)).toMatchObject({ others: 5, total: 15 });
  const drawn = geometry(layout, 1100);
  for (const line of lines) expect(stretches(drawn, line.names).length).toBeGreaterThan(0);
});

test("a node waits until it has all that its pool wants, and a key of another pool is lost", () => {
  const pools = [pool("a", { k: "1" }), pool("b", { k: "2" })];
  expect(tiesOf(node("n", ["a"]), pools).ties).toEqual({ a: "waits" });
  expect(tiesOf(node("n", ["a"], true, { k: "1" }), pools)).toEqual({ ties: { a: "has" }, lost: [] });
  expect(tiesOf(node("n", ["a", "b"], true, { k: "2" }), pools)).toEqual({ ties: { a: "has", b: "has" }, lost: ["a"] });
});

test("health moves nothing, and zones are lines as well", () => {
  const nodes = many(100);
  const before = model(nodes, ab, [], false).layout.blocks.flatMap((block) => block.spots.map((spot) => spot.name));
  const after = model(nodes.map((each, at) => (at === 3 ? node(each.metadata.name ?? "", ["a"], false) : each)), ab, [], false).layout.blocks.flatMap((block) => block.spots.map((spot) => spot.name));
  expect(after).toEqual(before);
  expect(model([node("a", []), node("bb", [])], [], [], false, "zones").rows.map((row) => row.name)).toEqual(["z0", "z1"]);
});

test.each([false, true])("the line of a pool goes on over the room between its blocks, turned: %s", (turned) => {
  const drawn = geometry(model([node("a-1", ["a"]), node("ab-1", ["a", "b"]), node("b-1", ["b"])], ab, [], false).layout, 640, turned, 40);
  for (const name of ["a", "b"]) expect(stretches(drawn, new Set([name]))).toHaveLength(1);
});
