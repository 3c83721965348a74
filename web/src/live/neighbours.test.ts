import { expect, test } from "vitest";
import type { Objects } from "../api/types";
import { neighboursOf, remember } from "./neighbours";
import { store } from "./store";

const service = (name: string) => ({ apiVersion: "v1", kind: "Service", metadata: { namespace: "a", name, uid: name, resourceVersion: "1" } }) as Objects["services"];

test("the neighbours of an object are those of the list that the reader came from", () => {
  store.put("services", ["one", "two", "three"].map(service));
  expect(neighboursOf("services", "a", "three")).toEqual({ before: "a/one", after: "a/two" });
  remember("services", ["a/two", "a/gone", "a/three", "a/one"]);
  expect(neighboursOf("services", "a", "three")).toEqual({ before: "a/two", after: "a/one" });
  expect(neighboursOf("services", "a", "two").before).toBeUndefined();
  expect(neighboursOf("services", "a", "absent")).toEqual({ before: undefined, after: undefined });
  remember("pods", ["a/x"]);
  expect(neighboursOf("services", "a", "three").after).toBe("a/two");
});
