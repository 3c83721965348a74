import { expect, test } from "vitest";
import { Newcomers } from "./newcomers";

const opened = Date.parse("2026-01-01T12:00:00.500Z");
const row = (uid: string, creationTimestamp: string) => ({ name: uid, uid, creationTimestamp });

test("a row is new that has come since, and only until it was seen", () => {
  const rows = new Newcomers(opened);
  const [old, now, young] = [row("a", "2026-01-01T11:59:59Z"), row("b", "2026-01-01T12:00:00Z"), row("c", "2026-01-01T12:00:01Z")];
  expect([old, now, young].map((each) => rows.isFresh(each))).toEqual([false, false, true]);
  rows.see([old, now, undefined, young]);
  expect(rows.isFresh(young)).toBe(false);
  rows.see([]); // a filter
  expect(rows.isFresh(young)).toBe(false);
});

test("rows that are gone are forgotten, however many came and went", () => {
  const rows = new Newcomers(opened);
  for (let at = 0; at < 10_000; at++) {
    rows.see([row(`${at}`, "2026-01-02T00:00:00Z"), row(`${at + 1}`, "2026-01-02T00:00:00Z")]);
    expect(rows.size).toBeLessThanOrEqual(1001);
    expect(rows.isFresh(row(`${at}`, "2026-01-02T00:00:00Z"))).toBe(false);
  }
});
