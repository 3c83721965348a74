import fc from "fast-check";
import { expect, test } from "vitest";
import { columns, extremes, sparkPath, topOf } from "./series";

const minute = 60_000;
const box = { from: 0, until: 60 * minute, width: 104, height: 20, top: 100, interval: minute };

test("a line goes from the left to the right, and 0 is at the bottom", () => {
  expect(sparkPath([{ time: 0, value: 0 }, { time: 5 * minute, value: 50 }, { time: 10 * minute, value: 100 }], box)).toBe("M0.0 20.0L8.7 10.0L17.3 0.0");
});

test("a line is torn where samples are missing, and ends where they end", () => {
  const path = sparkPath([{ time: 0, value: 1 }, { time: minute, value: 1 }, { time: 30 * minute, value: 1 }], box);
  expect(path.match(/M/g)).toHaveLength(2);
  expect(path.endsWith("L104.0")).toBe(false);
});

test("nothing leaves the box", () => {
  fc.assert(fc.property(fc.array(fc.record({ time: fc.integer({ min: -minute, max: 70 * minute }), value: fc.double({ min: -10, max: 1000, noNaN: true }) })), (samples) => {
    const path = sparkPath(samples.sort((a, b) => a.time - b.time), box);
    for (const [, x, y] of path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(0);
      expect(Number(x)).toBeLessThanOrEqual(104);
      expect(Number(y)).toBeGreaterThanOrEqual(0);
      expect(Number(y)).toBeLessThanOrEqual(20);
    }
    expect(path.replace(/[ML][\d.]+ [\d.]+/g, "")).toBe("");
  }));
});

test("a plot has a hole where samples are missing, and its times grow", () => {
  const [times, values] = columns([{ time: 0, value: 1 }, { time: 60 * minute, value: 2 }], minute);
  expect(values).toEqual([1, null, 2]);
  expect(times).toEqual([0, 1, 3600]);
});

test("the limit ends the axis while all fits under it", () => {
  expect(topOf([{ time: 0, value: 50 }], 100)).toBe(105);
  expect(topOf([{ time: 0, value: 200 }], 100)).toBeCloseTo(230);
  expect(topOf([], undefined)).toBe(1);
});

test("nothing has no extremes", () => {
  expect(extremes([])).toBeUndefined();
  expect(extremes([{ time: 0, value: 3 }, { time: 1, value: 1 }])).toEqual({ min: 1, max: 3, now: 1 });
});
