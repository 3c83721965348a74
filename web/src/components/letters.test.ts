import { expect, test } from "vitest";
import { isComposed } from "./letters";

test.each([
  ["a key of an input method", { isComposing: true, keyCode: 13 }, true],
  ["the last one in Safari", { isComposing: false, keyCode: 229 }, true],
  ["a key", { isComposing: false, keyCode: 13 }, false],
])("%s", (_, event, composed) => expect(isComposed(event)).toBe(composed));
