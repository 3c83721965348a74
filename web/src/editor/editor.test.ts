import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conflictsOf, without } from "./conflicts";
import { draftOf, draftsOf, keepDraft } from "./draft";
import { editable, type Fields, spoken } from "./json";
import { hunksOf, linesOf, marksOf } from "./lines";
import { mistakesIn } from "./mistakes";
import { edited, editsOf, patchOf } from "./patch";
import { pathOf } from "./path";
import { helpFor } from "./schema";
import { editableText, merged, pathAt, rangeOf, reading, takenIn, textOf, withField } from "./text";

const web: Fields = {
  apiVersion: "apps.jicki.cn/v1alpha1", kind: "PodSet", metadata: { name: "web", namespace: "shop", labels: { "example.com/team": "shop" } },
  spec: { size: 12, template: { spec: { containers: [{ name: "side", image: "a" }, { name: "web", image: "nginx:1.29" }] } } },
};
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, fc.constantFrom(null, true, 0, 7, "a", ""), fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(fc.constantFrom("a", "b", "c.d/e", "f~g"), tie("value"), { maxKeys: 3 })),
})).value;

describe("patches", () => {
  test("the edits make the one of the other", () => {
    fc.assert(fc.property(json, json, (before, after) => {
      const [one, other] = [JSON.parse(JSON.stringify(before)), JSON.parse(JSON.stringify(after))];
      expect(edited(one, editsOf(one, other))).toEqual(other);
    }));
  });
  test("what is replaced is tested for what the reader has seen", () => {
    const after = structuredClone(web);
    (after["spec"] as Fields)["size"] = 14;
    (after["metadata"] as Fields)["labels"] = {};
    expect(patchOf(editsOf(web, after))).toEqual([
      { op: "test", path: "/metadata/labels/example.com~1team", value: "shop" }, { op: "remove", path: "/metadata/labels/example.com~1team" },
      { op: "test", path: "/spec/size", value: 12 }, { op: "replace", path: "/spec/size", value: 14 },
    ]);
  });
  test("what is added is tested for not being there", () => {
    const after = structuredClone(web);
    (after["spec"] as Fields)["paused"] = true;
    expect(patchOf(editsOf(web, after))).toEqual([{ op: "test", path: "/spec/paused", value: null }, { op: "add", path: "/spec/paused", value: true }]);
  });
});

test.each([
  [".spec.template.spec.containers[name=\"web\"].image", "spec.template.spec.containers[1].image"],
  ["spec.template.spec.containers[0].image", "spec.template.spec.containers[0].image"],
  ["body.spec.size", "spec.size"],
  ["metadata.labels.example.com/team", "metadata.labels[\"example.com/team\"]"],
  ["metadata.labels[example.com/team]", "metadata.labels[\"example.com/team\"]"],
  [".spec.template.spec.containers[name=\"gone\"].image", "spec.template.spec.containers"],
  ["spec.nothing", "spec.nothing"],
])("the path %s is read", (text, want) => expect(spoken(pathOf(text, web))).toBe(want));

describe("conflicts", () => {
  const owners = [{ manager: "kubectl", operation: "Apply" as const }];
  const after = withField(textOf(web), ["spec", "template", "spec", "containers", 1, "image"], "nginx:2");
  const edits = editsOf(web, reading(after).object ?? null);
  test("name the field and who has set it", () => {
    const found = conflictsOf(edits, [{ path: ".spec.template.spec.containers[name=\"web\"].image", owners }], web);
    expect(found.map(({ edit, owners: of }) => [spoken(edit.path), of[0]?.manager])).toEqual([["spec.template.spec.containers[1].image", "kubectl"]]);
    expect(without(edits, found.map(({ edit }) => edit.path))).toEqual([]);
  });
  test("are none with the buttons of the console, nor in other fields", () => {
    expect(conflictsOf(edits, [{ path: ".spec.template.spec.containers[name=\"web\"].image", owners: [{ manager: "windlass-console-scale", operation: "Update" }] }], web)).toEqual([]);
    expect(conflictsOf(edits, [{ path: ".spec.template.spec.containers[name=\"side\"].image", owners }], web)).toEqual([]);
  });
});

describe("text", () => {
  const text = editableText(web);
  test("has nothing that the server keeps for itself", () => {
    expect(editable({ ...web, status: { ready: 1 }, metadata: { name: "web", uid: "1", resourceVersion: "2", managedFields: [] } })["metadata"]).toEqual({ name: "web" });
    expect(reading(text).object).toEqual(web);
  });
  test("every field that is found at a place has that place", () => {
    const { doc } = reading(text);
    for (const word of ["size", "team", "nginx:1.29", "side"]) {
      const range = rangeOf(doc, pathAt(doc, text.indexOf(word)));
      expect(text.slice(range.from, range.to), word).toContain(word.split(":")[0]);
    }
    expect(spoken(pathAt(doc, text.indexOf("nginx")))).toBe("spec.template.spec.containers[1].image");
    expect(text.slice(rangeOf(doc, ["spec", "missing"]).from)).toMatch(/^spec/);
  });
  test("a field is set and removed around comments", () => {
    const commented = "# mine\nspec:\n  size: 3 # three\n  paused: true\n";
    expect(withField(commented, ["spec", "size"], 4)).toBe("# mine\nspec:\n  size: 4 # three\n  paused: true\n");
    expect(withField(commented, ["spec", "paused"], undefined)).toBe("# mine\nspec:\n  size: 3 # three\n");
    expect(reading(withField("spec:\n", ["spec", "a", 0, "b"], 1)).object).toEqual({ spec: { a: [{ b: 1 }] } });
    expect(withField("spec: [", ["spec"], 1)).toBe("spec: [");
  });
  test("what changes on the server goes around what is typed", () => {
    const mine = withField(text, ["spec", "size"], 14) + "# kept\n";
    const theirs = structuredClone(web);
    Object.assign(theirs["spec"] as Fields, { size: 13, paused: true });
    const { text: out, both } = merged(mine, web, theirs);
    expect(out).toContain("# kept");
    expect((reading(out).object?.["spec"] as Fields)["paused"]).toBe(true);
    expect((reading(out).object?.["spec"] as Fields)["size"]).toBe(14);
    expect(both.map((edit) => spoken(edit.path))).toEqual(["spec.size"]);
  });
  test("what another has changed is no change of mine because I was in the middle of a line", () => {
    const theirs = structuredClone(web);
    Object.assign(theirs["spec"] as Fields, { size: 13, paused: true });
    const mended = text + "status: {}\n";
    expect(takenIn(text + "status: {", web, theirs)).toBeUndefined();
    const taken = takenIn(mended, web, theirs);
    const typed = reading(taken?.text ?? "").object;
    expect(taken && typed && editsOf(taken.base, typed).map(({ path }) => spoken(path))).toEqual(["status"]);
    expect(takenIn(text, web, theirs)?.text).toBe(editableText(theirs));
  });
  test("a mistake has its place, and a bomb is none", () => {
    expect(reading("a: [1\nb: 2").mistakes[0]?.from).toBeGreaterThan(0);
    const bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + [..."bcdefgh"].map((name, index) => `${name}: &${name} [${Array(10).fill("*" + "abcdefgh"[index]).join(",")}]`).join("\n");
    expect(reading(bomb).object).toBeUndefined();
    expect(reading(bomb).mistakes.length).toBe(1);
  });
  test("what the server says of a field stands where the field is, and what it says of the whole nowhere", () => {
    const said = reading(text);
    const found = mistakesIn(said, [{ location: ".spec.template.spec.containers[1].image", message: "no" }, { location: "spec.missing", message: "wanted" }, { message: "refused" }]);
    expect(found.map(({ from, to, message }) => [text.slice(from, to), message])).toEqual([["image: nginx:1.29", "no"], ["spec", "wanted"]]);
    const broken = reading("a: [1");
    expect(mistakesIn(broken, [])).toEqual(broken.mistakes);
  });
});

describe("lines", () => {
  test("give both texts back", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "  c", ""), { minLength: 1, maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(fc.property(texts, texts, (before, after) => {
      const lines = linesOf(before, after);
      expect(lines.filter(({ mark }) => mark !== "+").map(({ text }) => text).join("\n")).toBe(before);
      expect(lines.filter(({ mark }) => mark !== "-").map(({ text }) => text).join("\n")).toBe(after);
      for (const line of lines) if (line.mark !== "-") expect(after.split("\n")[line.at - 1]).toBe(line.text);
    }));
  });
  test("are marked and stand under their fields", () => {
    const before = textOf(web);
    const lines = linesOf(before, before.replace("nginx:1.29", "nginx:2").replace("  size: 12\n", "  size: 12\n  paused: true\n"));
    expect([...marksOf(lines).values()]).toEqual(["added", "changed"]);
    expect(hunksOf(lines).map(({ within }) => within)).toEqual(["spec", "spec.template.spec.containers"]);
  });
});

test("the schema tells of a field", () => {
  const schema = { $ref: "#/$defs/PodSet", $defs: {
    PodSet: { properties: { spec: { description: "Of it.", $ref: "#/$defs/Spec" } } },
    Spec: { required: ["size"], properties: { size: { type: "integer", description: "Pods." }, list: { type: "array", items: { oneOf: [{ type: "string" }, { type: "integer" }] } }, map: { additionalProperties: { type: "string", enum: ["a"] } } } },
  } };
  expect(helpFor(schema, ["spec", "size"])).toMatchObject({ types: ["integer"], required: true, description: "Pods." });
  expect(helpFor(schema, ["spec"])).toMatchObject({ description: "Of it.", fields: ["size", "list", "map"] });
  expect(helpFor(schema, ["spec", "list"])?.types).toEqual(["string or integer[]"]);
  expect(helpFor(schema, ["spec", "list", 0])?.types).toEqual(["string", "integer"]);
  expect(helpFor(schema, ["spec", "map", "x"])?.values).toEqual(["a"]);
  expect(helpFor(schema, ["spec", "none"])).toBeUndefined();
});

test("a draft is kept, and a broken one is none", () => {
  const kept = new Map<string, string>();
  const store = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value), removeItem: (key: string) => void kept.delete(key), clear: () => kept.clear(), key: () => null, length: 0 };
  keepDraft("podsets/shop/web", { text: "a", base: "b", uid: "c" }, store);
  expect(draftOf("podsets/shop/web", store)).toEqual({ text: "a", base: "b", uid: "c" });
  kept.set("windlass.draft.x", "{");
  expect(draftOf("x", store)).toBeUndefined();
  keepDraft("podsets/shop/web", undefined, store);
  expect(draftOf("podsets/shop/web", store)).toBeUndefined();
});

test("what somebody has typed is there after they sign in again, and for nobody else", () => {
  const kept = new Map<string, string>();
  const store = {
    getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value), removeItem: (key: string) => void kept.delete(key),
    clear: () => kept.clear(), key: (at: number) => [...kept.keys()][at] ?? null, get length() { return kept.size; },
  };
  draftsOf("ann", store);
  keepDraft("clusters/prod", { text: "a", base: "b", uid: "c" }, store);
  keepDraft("create/podsets", { text: "a", base: "", uid: "" }, store);
  draftsOf("ann", store);
  expect(draftOf("clusters/prod", store)?.text).toBe("a");
  draftsOf("ben", store);
  expect([draftOf("clusters/prod", store), draftOf("create/podsets", store)]).toEqual([undefined, undefined]);
});
