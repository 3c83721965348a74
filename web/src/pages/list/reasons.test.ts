import { expect, test } from "vitest";
import { hasReason, isShort } from "./reasons";

test("a pod set that waits for pods says so in a short list, and not among thousands", () => {
  const waits = { name: "reconciling", reason: "PodsNotReady" } as const;
  expect([hasReason(waits, isShort("podsets", 12)), hasReason(waits, isShort("podsets", 10_000)), hasReason(waits, isShort("pods", 12))]).toEqual([true, false, false]);
});

test("what needs somebody says why in any list, and what says nothing has no line", () => {
  expect([hasReason({ name: "stalled", reason: "ImageNotFound" }, false), hasReason({ name: "stalled" }, true), hasReason({ name: "ready", reason: "Ready" }, true), hasReason(undefined, true)]).toEqual([true, false, false, false]);
});
