import fc from "fast-check";
import { expect, test } from "vitest";
import { wordsOf } from "./words";

test("what is in quotes stays together", () => {
  expect(wordsOf(`kubectl patch vm a -p '{"spec": {"a": 1}}' --type=merge`).filter((word) => word.trim() !== "")).toEqual(["kubectl", "patch", "vm", "a", "-p", `'{"spec": {"a": 1}}'`, "--type=merge"]);
});

test("nothing is lost, whatever the line is", () => {
  fc.assert(fc.property(fc.string(), (line) => wordsOf(line).join("") === line));
});
