import { expect, test } from "vitest";
import { en } from "./en";
import { fill } from "./index";
import { zh } from "./zh";
import { zhChecks } from "./zh-checks";
import { reasons } from "./zh-reasons";
import { zhSteps } from "./zh-steps";

function holes(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").sort();
}

test("both languages fill in the same", () => {
  for (const [key, text] of Object.entries(en)) {
    expect(holes(Object.entries(zh).find(([other]) => other === key)?.[1] ?? ""), key).toEqual(holes(text));
  }
});

test("no text is empty or pleads", () => {
  for (const text of [...Object.values(en), ...Object.values(zh), ...reasons.values(), ...zhChecks.values(), ...Object.values(zhSteps)]) expect(text).not.toMatch(/^$|please|successfully|!|您|(?<!已|申)请(?!求)/i);
});

test("a word in English goes with its number", () => {
  expect([0, 1, 2].map((count) => fill("{count} {count|key|keys}", { count }))).toEqual(["0 keys", "1 key", "2 keys"]);
  for (const [key, text] of Object.entries(en)) expect(text, key).not.toMatch(/\{count\} [a-z]+s\b(?!\|)/);
});

test("what a reason means is a sentence, with a space between Chinese and other letters", () => {
  for (const [reason, text] of reasons) expect(text, reason).toMatch(/^(?!.*(?:[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff])).*。$/);
});

test("checks and next steps have a space between Chinese and other letters, and steps are sentences", () => {
  const sides = /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/;
  for (const [id, text] of zhChecks) expect(text, id).not.toMatch(sides);
  for (const [step, text] of Object.entries(zhSteps)) {
    expect(text, step).not.toMatch(sides);
    expect(text, step).toMatch(/。$/);
  }
});

test("what is not given stays", () => expect(fill("{a} of {b}", { a: 1 })).toBe("1 of {b}"));
