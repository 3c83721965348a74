import { expect, test } from "vitest";
import type { Shown } from "./columns";
import { headOf, inOrder, orderOf, servedSort } from "./sorting";

const column = (name: string, at: number, type = "string"): Shown => ({ name, at, column: { name, type, format: "", description: "", priority: 0 } });
const columns = [column("Name", 0), column("Restarts", 1, "integer"), column("Memory", 2), column("Status", 3), column("Since", 4, "date"), { name: "CPU", at: -1, column: undefined }];
const row = (name: string, ...cells: unknown[]) => ({ cells: [name, ...cells], object: { metadata: { name } } });
const rows = [row("a", 3, "512Mi", "Running", "5m"), row("b", 12, "2Gi", null, "2d"), row("c", 0, "1500M", "CrashLoopBackOff", "<none>"), row("d", 3, "1Gi", "Running", "3h20m")];
const order = (sort: string | undefined) => inOrder(rows, columns, sort, (_, { object }) => object.metadata.name?.charCodeAt(0)).map(({ object }) => object.metadata.name).join("");

test.each([
  ["nothing", undefined, "abcd"], ["a number", "-Restarts", "badc"], ["sizes", "Memory", "adcb"], ["words, where none comes last", "Status", "cadb"], ["words, down", "-Status", "adcb"],
  ["durations", "Since", "adbc"], ["the name, down", "-name", "dcba"], ["a column of the console", "-CPU", "dcba"], ["a column that there is not", "Host", "abcd"], ["what the server has sorted", "-created", "abcd"],
])("a list that is whole is sorted by %s", (_, sort, want) => expect(order(sort)).toBe(want));

test("beyond one page the list has the order that the server has, and says no other", () => {
  expect(["Restarts", "-name", "-created", undefined].map((sort) => orderOf(sort, false))).toEqual([undefined, undefined, "-created", undefined]);
  expect(["Restarts", "-created"].map((sort) => [orderOf(sort, true), servedSort(sort)])).toEqual([["Restarts", undefined], ["-created", "-created"]]);
});

test("a press sorts, the next one turns the order, and one more takes it back", () => {
  const presses = (name: string) => { const shown = columns.find((each) => each.name === name) as Shown; const out: (string | undefined)[] = []; for (let sort: string | undefined, at = 0; at < 3; at++) out.push((sort = headOf(shown, sort).next)); return out; };
  expect(presses("Restarts")).toEqual(["-Restarts", "Restarts", undefined]);
  expect(presses("Status")).toEqual(["Status", "-Status", undefined]);
  expect(presses("Name")).toEqual(["-name", undefined, "-name"]);
  const age = column("Age", 5);
  expect([headOf(age, undefined), headOf(age, "-created")]).toEqual([{ now: undefined, next: "-created" }, { now: "ascending", next: "created" }]);
});
