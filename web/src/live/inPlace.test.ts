import { expect, test } from "vitest";
import { inPlace, movedOf } from "./inPlace";

interface Row { uids: string[]; says: string }
const row = (says: string, ...uids: string[]): Row => ({ uids, says });
const grow = (held: readonly Row[], now: readonly Row[]) => inPlace(held, now, ({ uids }) => uids);
const says = (rows: readonly Row[]) => rows.map((each) => each.says);

test("a row that is held changes where it is, and none comes, goes or moves", () => {
  const held = [row("a", "1"), row("b", "2"), row("c", "3")];
  const now = [row("new", "4"), row("c", "3"), row("a, changed", "1")];
  const shown = grow(held, now);
  expect(says(shown)).toEqual(["a, changed", "b", "c"]);
  expect(movedOf(shown, now)).toEqual({ added: 1, gone: 1 });
});

test("what is shown is the same for as long as nothing of it changes, or it would be held anew without end", () => {
  const held = [row("a", "1"), row("b", "2")];
  const now = [row("b", "2"), row("new", "3"), row("a", "1")];
  const shown = grow(held, now);
  expect(grow(shown, now)).toBe(shown);
  expect(grow(now, now)).toBe(now);
  expect(movedOf(now, now)).toEqual({ added: 0, gone: 0 });
});

test("a row of several objects goes on without one of them, and two that have become one are shown once", () => {
  const one = row("2 machines", "1", "2");
  const fewer = row("1 machine", "2");
  expect(grow([one], [fewer])).toEqual([fewer]);
  const now = [row("both", "1", "2")];
  const shown = grow([row("b", "2"), row("a", "1")], now);
  expect(says(shown)).toEqual(["both"]);
  expect(grow(shown, now)).toBe(shown);
  expect(movedOf(shown, now)).toEqual({ added: 0, gone: 0 });
});

test("a list that is empty does not go on to say that there is nothing", () => {
  const now = [row("new", "1")];
  expect(grow([], now)).toBe(now);
  expect(grow(now, now)).toBe(now);
});
