import { expect, test } from "vitest";
import { kept } from "./toasts";

test("a success leaves before a failure does", () => {
  const toasts = [{ id: 1, failed: true }, { id: 2, failed: false }, { id: 3, failed: true }, { id: 4, failed: false }];
  expect(kept(toasts).map(({ id }) => id)).toEqual([1, 3, 4]);
});

test("of failures alone the oldest leaves", () => {
  expect(kept([1, 2, 3, 4].map((id) => ({ id, failed: true }))).map(({ id }) => id)).toEqual([2, 3, 4]);
});
