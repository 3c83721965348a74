import { expect, test } from "vitest";
import { bounded, offerSize, sizeIn, sizeKey, sizeOf, wantSize } from "./sizing";

test("S leads to the stepper of an object, which comes later or is there already", () => {
  const focused: string[] = [];
  const [web, api] = [sizeKey("podsets", "ml", "web"), sizeKey("podsets", "ml", "api")];
  wantSize(web);
  const end = offerSize(web, () => focused.push("web"));
  expect(focused).toEqual(["web"]);
  wantSize(web);
  expect(focused).toEqual(["web", "web"]);
  end();
  wantSize(web);
  // Somebody has gone to another page meanwhile: neither takes the focus by itself.
  offerSize(api, () => focused.push("api"))();
  offerSize(web, () => focused.push("late"))();
  expect(focused).toEqual(["web", "web"]);
});

test.each([
  ["a pod set", "podsets", { spec: { size: 4 } }, 4],
  ["a pod set without pods", "podsets", { spec: {} }, 0],
  ["a Deployment", "deployments", { spec: { replicas: 0 } }, 0],
  ["a Deployment that says nothing of it", "deployments", { spec: {} }, 1],
  ["a Deployment of a pod set, which has the size", "deployments", { spec: { replicas: 4 }, owned: true }, undefined],
  ["what has no pods", "services", { spec: { size: 4 } }, undefined],
])("the size of %s", (_, plural, { spec, owned = false }: { spec: object; owned?: boolean }, size) => {
  expect(sizeOf(plural, { metadata: owned ? { ownerReferences: [{ controller: true }] } : {}, spec })).toBe(size);
});

test("a size is a whole number from 0 to 99,999", () => {
  expect(["0", "12", "99999", "", "100000", "-1", "1.5", "a"].map(sizeIn)).toEqual([0, 12, 99_999, 0, undefined, undefined, undefined, undefined]);
  expect([-1, 3, 100_000].map(bounded)).toEqual([0, 3, 99_999]);
});
