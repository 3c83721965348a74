import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "./filter";
import { suggest } from "./suggest";

const labelled = (labels: Record<string, string>) => ({ metadata: { labels } });
const objects = [labelled({ weight: "1", team: "shop" }), labelled({ weight: "2", team: "shop" }), labelled({ team: "web" }), { metadata: {} }];
const lines = (typed: string, plural = "pods") => suggest(typed, plural, objects).map(({ line, count }) => `${line} ${count}`);

test("a word is a word, or the label that it is part of", () => {
  expect(suggest("we", "pods", objects).map(({ text, about, count }) => [text, about, count])).toEqual([["we", "filter.isWord", 0], ["-l weight", "filter.isLabel", 2]]);
  expect(lines("cart")).toEqual([]);
});

test("labels come by how many objects have them, and values after them", () => {
  expect(lines("-l ")).toEqual(["-l team= 3", "-l weight= 2"]);
  expect(lines("-l team=")).toEqual(["-l team=shop 2", "-l team=web 1"]);
  expect(lines("-l team=shop")).toEqual([]);
  expect(lines("x -l team=shop,weight!=")).toEqual(["x -l team=shop,weight!=1 1", "x -l team=shop,weight!=2 1"]);
});

test("fields are those by which the API selects the kind", () => {
  expect(lines("--field-selector node")).toEqual(["--field-selector spec.nodeName= 0"]);
  expect(lines("--field-selector invol", "services")).toEqual([]);
});

test("whatever is typed, a suggestion is a line that can be read", () => {
  fc.assert(fc.property(fc.constantFrom("-l ", "--field-selector ", "-l team=", ""), fc.string(), (flag, text) => {
    for (const { line } of suggest(flag + text, "pods", objects)) expect(() => parse(line)).not.toThrow();
  }));
});
