import { expect, test } from "vitest";
import { Refusal } from "./client";
import { isPassing, whilePassing } from "./passing";

const refused = (status: number) => new Refusal({ type: "about:blank", code: "Test", title: "no", status });

test.each([[0, true, true], [401, true, false], [408, true, true], [429, true, true], [500, true, true], [503, true, true], [400, false, false], [403, false, false], [409, false, false], [422, false, false]])(
  "a refusal with %d is only for the moment: %s, and is asked again by itself: %s", (status, passing, again) => {
    expect([isPassing(refused(status)), whilePassing({ state: { error: refused(status) } }) !== false]).toEqual([passing, again]);
  },
);

test("what was answered is not asked again", () => expect([isPassing(undefined), whilePassing({ state: { error: null } })]).toEqual([false, false]));
