import { expect, test } from "vitest";
import { freshOf } from "./fresh";

const now = new Map([["a", "A"], ["b", "B"]]);

test.each([
  ["when the page was opened", undefined, []],
  ["meanwhile", { of: "ci", keys: new Set(["a"]) }, ["B"]],
  ["in another namespace", { of: undefined, keys: new Set<string>() }, []],
])("what is there %s is told as it must", (_, told, want) => expect(freshOf(told, "ci", now)).toEqual(want));
