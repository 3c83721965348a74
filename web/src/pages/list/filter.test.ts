import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "./filter";

test.each([
  ["web api", { words: "web api", labels: "", fields: "" }],
  ["-l app=web", { words: "", labels: "app=web", fields: "" }],
  ["web -l app=web,tier!=db --field-selector spec.nodeName=n1", { words: "web", labels: "app=web,tier!=db", fields: "spec.nodeName=n1" }],
  ["--selector=app=web", { words: "", labels: "app=web", fields: "" }],
  ["-l zone in (a, b) x", { words: "x", labels: "zone in (a, b)", fields: "" }],
  ["-l 'zone in (a,b)'", { words: "", labels: "zone in (a,b)", fields: "" }],
  ["-l", { words: "", labels: "", fields: "" }],
])("%s", (line, wanted) => expect(parse(line)).toEqual(wanted));

test("every line is a filter", () => {
  fc.assert(fc.property(fc.string(), (line) => { parse(line); }));
});
