import { expect, test } from "vitest";
import type { Check, Explanation } from "../../../api/types";
import { leftOf, waitingChecks } from "./waiting";

const check = (id: Check["id"], state: Check["state"] = "Passed"): Check => ({ id, title: id, state });
const of = (kind: string, name: string, ...checks: Check[]): Explanation => ({ subject: { kind, name } as Explanation["subject"], summary: "", checks });

test("why pods wait is told by the checks of the pod that waits, and not by the conditions of its owner", () => {
  const why: Explanation = { ...of("PodSet", "train", check("ObservedByWindlass"), check("ObjectReady", "Failed")), because: of("Pod", "train-x", check("ChosenPoolExists"), check("NodeHasRoom", "Failed")) };
  expect(waitingChecks(why)).toEqual({ pod: "train-x", checks: [check("ChosenPoolExists"), check("NodeHasRoom", "Failed")] });
});

test("where no pod could be created, the checks of the owner say why", () => {
  const why = of("PodSet", "train", check("PodsCreatable", "Failed"));
  expect(waitingChecks(why)).toEqual({ pod: undefined, checks: why.checks });
});

test("a check that leaves some of the nodes says how many", () => {
  expect(leftOf({ state: "Passed", message: "3 of 20 nodes." })).toEqual({ left: "3", all: "20" });
  expect(leftOf({ state: "Passed" })).toBeUndefined();
  expect(leftOf({ state: "Failed", message: "3 of 20 nodes." })).toBeUndefined();
});
