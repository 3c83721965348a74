import { expect, test } from "vitest";
import { isAbout, type PageObject } from "./page";

test("a part of a page finds the object of the page, and no other one", () => {
  const pod: PageObject = { kind: "pods", object: { metadata: { namespace: "a", name: "db-0" } }, gone: true };
  const node: PageObject = { kind: "nodes", object: { metadata: { name: "n1" } }, gone: false };
  expect(isAbout(pod, "pods", "a", "db-0")).toBe(true);
  expect(isAbout(node, "nodes", undefined, "n1")).toBe(true);
  expect([isAbout(pod, "pods", "b", "db-0"), isAbout(pod, "services", "a", "db-0"), isAbout(node, "nodes", undefined, "n2"), isAbout(undefined, "nodes", undefined, "n1")]).toEqual([false, false, false, false]);
});
