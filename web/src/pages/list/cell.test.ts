import { expect, test } from "vitest";
import { newsOf, restartsIn } from "./Cell";

test("how long ago a restart was is no news, and how often is", () => {
  expect(newsOf("3 (5m1s ago)")).toBe(newsOf("3 (5m2s ago)"));
  expect(newsOf("3 (5m1s ago)")).not.toBe(newsOf("4 (0s ago)"));
  expect([newsOf("0"), newsOf(7), newsOf(null)]).toEqual(["0", 7, null]);
  expect([restartsIn("12 (3h ago)"), restartsIn("12"), restartsIn(12)]).toEqual(["12", undefined, undefined]);
});
