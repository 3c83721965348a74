import { expect, test } from "vitest";
import { heightOf, learn, unmeasured } from "./useHeights";

test("rows that are as high as usual change nothing", () => {
  const nothing = unmeasured();
  expect(learn(nothing, new Map([["row a", 33], ["why a", 24.3]]))).toBe(nothing);
});

test("rows of a phone are as high as they are, and those that nobody has seen are like most of them", () => {
  const seen = learn(unmeasured(), new Map([["row a", 72], ["row b", 72], ["row c", 92], ["why a", 48]]));
  expect(["a", "b", "c", "far"].map((key) => heightOf(seen, "row", `row ${key}`))).toEqual([72, 72, 92, 72]);
  expect(heightOf(seen, "why", "why far")).toBe(48);
  expect(heightOf(seen, "group", "group far")).toBe(33);
  expect(learn(seen, new Map([["row a", 72]]))).toBe(seen);
});

test("a row that left the page has no height, and keeps the one that it had", () => {
  const seen = learn(unmeasured(), new Map([["row a", 72]]));
  expect(heightOf(learn(seen, new Map([["row a", 0]])), "row", "row a")).toBe(72);
});

test("a row that wraps is another height, and the others are as high as before", () => {
  const before = unmeasured();
  const after = learn(before, new Map([["row a", 33], ["row b", 56], ["row c", 33.2]]));
  expect([after.usual, after.version, [...after.fresh]]).toEqual([before.usual, 1, ["row b"]]);
  expect(after.usual).toBe(before.usual);
});
