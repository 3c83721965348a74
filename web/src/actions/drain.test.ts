import { expect, test } from "vitest";
import { type Drain, goesOn, has, partsOf } from "./drain";

type Result = Drain["pods"][number]["result"];

function drained(...results: Result[]): Drain {
  return { node: "a", remaining: 0, budgetsKnown: true, pods: results.map((result, at) => ({ namespace: "ci", name: `p${at}`, uid: String(at), result })) };
}

const results: readonly Result[] = ["Evicted", "WouldBeEvicted", "Blocked", "Forbidden", "Failed", "Ending", "Gone", "DaemonSet", "Mirror", "Unmanaged", "LocalData"];

test("every pod but one that is gone is in one part, and what is in the way comes first", () => {
  const parts = partsOf(drained(...results));
  expect(parts.flatMap(({ pods }) => pods.map(({ result }) => result)).sort()).toEqual(results.filter((result) => result !== "Gone").sort());
  const fates = parts.map(({ fate }) => fate);
  expect(fates).toEqual([...fates].sort((a, b) => ["inTheWay", "goes", "stays"].indexOf(a) - ["inTheWay", "goes", "stays"].indexOf(b)));
});

test.each(results)("a drain with a pod that is %s is sent again only where that can help", (result) => {
  expect(goesOn(drained("DaemonSet", result))).toBe(["Evicted", "Ending", "Blocked", "Failed"].includes(result));
});

test("a choice is offered for pods that it is about", () => {
  expect([has(undefined, "Unmanaged"), has(drained("LocalData"), "Unmanaged"), has(drained("Unmanaged"), "Unmanaged")]).toEqual([false, false, true]);
});
