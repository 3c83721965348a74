import fc from "fast-check";
import { expect, test } from "vitest";
import { common, layout, type Spot } from "./layout";

function spot(name: string, ...pools: string[]): Spot {
  return { name, zone: "", pools };
}

test("each pool's line is in one piece, and pools begin from top to bottom", () => {
  const { blocks, pools } = layout([spot("w1", "worker"), spot("e1", "edge"), spot("ew", "edge", "worker"), spot("g1", "gpu"), spot("eg", "edge", "gpu"), spot("x")]);
  expect(blocks.map((block) => block.pools.join("+"))).toEqual(["gpu", "edge+gpu", "edge", "edge+worker", "worker", ""]);
  expect(pools).toEqual(["gpu", "edge", "worker"]);
});

test("a block that is in three pools does not cut their lines", () => {
  const { blocks } = layout([
    spot("w1", "worker"), spot("f1", "fast", "worker"), spot("fa", "archive", "fast", "worker"), spot("a1", "archive", "worker"), spot("ew", "edge", "worker"), spot("e1", "edge"), spot("eg", "edge", "gpu"), spot("g1", "gpu"),
  ]);
  for (const pool of ["archive", "edge", "fast", "gpu", "worker"]) {
    const of = blocks.map((block) => block.pools.includes(pool));
    expect(of.slice(of.indexOf(true), of.lastIndexOf(true) + 1), pool).not.toContain(false);
  }
});

test("nodes are ordered by zone and then by name within a block", () => {
  const { blocks } = layout([{ name: "b", zone: "z2", pools: ["p"] }, { name: "c", zone: "z1", pools: ["p"] }, { name: "a", zone: "z2", pools: ["p"] }]);
  expect(blocks[0]?.spots.map((each) => each.name)).toEqual(["c", "a", "b"]);
});

const spots = fc.uniqueArray(
  fc.record({ name: fc.string({ minLength: 1, maxLength: 4 }), zone: fc.constantFrom("a", "b"), pools: fc.uniqueArray(fc.constantFrom("p", "q", "r", "s")) }),
  { selector: (each) => each.name, maxLength: 40 },
);

test("every node is drawn once, whatever the order in which nodes come", () => {
  fc.assert(fc.property(spots, (all) => {
    const there = layout(all);
    const names = there.blocks.flatMap((block) => block.spots.map((each) => each.name));
    expect([...names].sort()).toEqual(all.map((each) => each.name).sort());
    expect(layout([...all].reverse())).toEqual(there);
  }));
});

test("nodes of no pool come last", () => {
  fc.assert(fc.property(spots, (all) => {
    const empty = layout(all).blocks.findIndex((block) => block.pools.length === 0);
    expect(empty === -1 || empty === layout(all).blocks.length - 1).toBe(true);
  }));
});

test("what names have in common ends at a separator", () => {
  expect(common(["worker-01", "worker-02"])).toBe("worker-");
  expect(common(["gpu-04"])).toBe("gpu-");
  expect(common(["ab", "ac"])).toBe("");
});
