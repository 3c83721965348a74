import { expect, test } from "vitest";
import { kindOf } from "../../../kinds/registry";
import { restartOf } from "./restart";

const kind = kindOf("virtualmachines");
if (!kind) throw new Error("there is no kind of machines");
const target = { kind, namespace: "ci", name: "a", uid: "0-1" };
const noon = new Date("2030-01-31T12:00:00.000Z");

test.each([
  ["nothing, where none was planned", undefined, null],
  ["the plan of before", "2030-01-31T06:00:00Z", "2030-01-31T06:00:00Z"],
])("a plan that is taken back leaves %s", (_, former, left) => {
  const { order, undo } = restartOf(target, noon, former);
  expect([order.body, undo?.body]).toEqual([{ spec: { restartAt: "2030-01-31T12:00:00Z" } }, { spec: { restartAt: left } }]);
});

test("a restart at once cannot be taken back", () => {
  const { order, undo } = restartOf(target, undefined, "2030-01-31T06:00:00Z");
  expect([order.body, undo]).toEqual([{ state: "restart" }, undefined]);
});
