import { describe, expect, test } from "vitest";
import type { Schemas } from "../api/types";
import { at, editable, type Fields } from "../editor/json";
import { helpFor } from "../editor/schema";
import { reading, textOf, withField } from "../editor/text";
import { readFileSync } from "node:fs";
import { madeOf } from "./form";
import { errorsOf } from "./FormView";
import { kubeconfig } from "./kubeconfig/form";
import { pairs, taints, taintText } from "./lines";
import { mayChoose } from "./PoolChoice";
import { forms } from "./registry";

const description = JSON.parse(readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8"));

describe.each(forms.map((form) => [form.route, form] as const))("the form of %s", (_, form) => {
  const first = form.initial("shop");
  test("writes fields that the API knows", () => {
    const kind = form.schema ? String(first["kind"]) : "App";
    for (const field of form.fields) expect(helpFor({ ...description, $ref: `#/components/schemas/${kind}` }, field.path), field.path.join(".")).toBeDefined();
  });
  test("and the text are two views of one object", () => {
    let text = textOf(first) + "# kept\n";
    for (const field of form.fields) {
      text = withField(text, field.path, "typed");
      expect(at(reading(text).object, field.path), field.path.join(".")).toBe("typed");
    }
    expect(text).toContain("# kept");
    expect(form.creates(reading(text).object ?? {}).length).toBeGreaterThan(0);
  });
  test("has the errors of the server at its fields", () => {
    for (const field of form.fields) {
      const location = field.path.reduce<string>((so, step) => (typeof step === "number" ? `${so}[${step}]` : `${so}.${step}`), "").slice(1);
      const { of, others } = errorsOf({ ...form, fields: form.fields.map((each) => ({ ...each, only: () => true })) }, first, [{ code: "FieldValueInvalid", message: "wrong", location }]);
      expect([...of.keys()].map((each) => each.path), location).toEqual([field.path]);
      expect(others).toEqual([]);
    }
    expect(errorsOf(form, first, [{ code: "FieldValueInvalid", message: "wrong", location: "status.nothing" }]).others.length).toBe(1);
  });
});

test("lines are pairs and taints", () => {
  expect(pairs("a=b=c\n\n d \n")).toEqual({ a: "b=c", d: "" });
  expect(pairs(" ")).toBeUndefined();
  expect(taints("k=v:NoSchedule\nx:NoExecute")).toEqual([{ key: "k", value: "v", effect: "NoSchedule" }, { key: "x", effect: "NoExecute" }]);
  expect(taints("k=v:NoSchedule\nx:NoExecute")?.map(taintText)).toEqual(["k=v:NoSchedule", "x:NoExecute"]);
  expect(editable({ metadata: { name: "a" } } as Fields)).toEqual({ metadata: { name: "a" } });
});

test("a pool that is for other namespaces cannot be chosen", () => {
  const pool = (spec: Schemas["NodePool"]["spec"]): Schemas["NodePool"] => ({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: "a", uid: "b", creationTimestamp: "" }, ...(spec ? { spec } : {}) });
  const chosen = pool({ allowedNamespaces: { from: "Selector", selector: { matchLabels: { team: "ml" } } } });
  expect(mayChoose(chosen, { team: "ml" })).toBe(true);
  expect(mayChoose(chosen, { team: "shop" })).toBe(false);
  expect(mayChoose(pool(undefined), {})).toBe(true);
});

test("the form of a Kubeconfig that a cluster leads to is for that cluster", () => {
  expect(kubeconfig.initial("shop")).toMatchObject({ metadata: { name: "" }, spec: { clusterRef: { name: "" } } });
  expect(kubeconfig.initial("shop", "aws")).toMatchObject({ metadata: { name: "aws-view" }, spec: { clusterRef: { name: "aws" } } });
});

test.each([
  ["a name that the API server gives", { metadata: { generateName: "train-", namespace: "ci" } }, { metadata: { name: "train-x7k2p", namespace: "ci" } }, { name: "train-x7k2p", namespace: "ci" }],
  ["a namespace that nobody has typed", { metadata: { name: "train" } }, { metadata: { name: "train", namespace: "default" } }, { name: "train", namespace: "default" }],
  ["an app, of which the answer is two objects", { name: "web", namespace: "shop" }, { deployment: { metadata: { name: "web" } }, service: { metadata: { name: "web" } } }, { name: "web", namespace: "shop" }],
  ["what has no namespace", { metadata: { name: "edge" } }, { metadata: { name: "edge" } }, { name: "edge" }],
])("what was made is found: %s", (_, object, made, place) => expect(madeOf(object, made)).toEqual(place));
