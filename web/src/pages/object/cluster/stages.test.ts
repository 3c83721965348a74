import fc from "fast-check";
import { expect, test } from "vitest";
import { axis, changeOf, duration, saidIn, stagesOf } from "./stages";

test("stages are read from what RKE, devcluster and logrus print", () => {
  const start = Date.parse("2026-01-02T03:04:05Z");
  const said = saidIn(["INFO[0004] [network] Checking hosts", "  9.5s  starting etcd", 'time="2026-01-02T03:04:17Z" level=info msg="[etcd] Building up"', "no time at all"], start);
  expect(said).toEqual([{ time: start + 4000, text: "[network] Checking hosts" }, { time: start + 9500, text: "starting etcd" }, { time: start + 12_000, text: "[etcd] Building up" }]);
});

test("a stage lasts until the next begins, and the last one until the run ends", () => {
  const said = [{ time: 0, text: "[a] one" }, { time: 5, text: "[a] two" }, { time: 10, text: "[b] one" }, { time: 9999, text: "[c] late" }];
  expect(stagesOf(said, 0, 30)).toEqual([{ name: "a", from: 0, until: 10 }, { name: "b", from: 10, until: 30 }]);
});

test("a run that is over within a second has its stages", () => {
  const said = [{ time: 0, text: "[a] one" }, { time: 400, text: "[b] one" }];
  expect(stagesOf(said, 0, 0).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("stages follow each other without gaps, inside the run", () => {
  fc.assert(fc.property(fc.array(fc.record({ time: fc.integer({ min: -10, max: 1200 }), text: fc.constantFrom("[a] x", "[b] y", "c", "") })), (said) => {
    const stages = stagesOf(said, 0, 100);
    stages.forEach((stage, index) => {
      expect(stage.from).toBeGreaterThanOrEqual(0);
      expect(stage.until).toBe(stages[index + 1]?.from ?? 100);
      expect(stage.name).not.toBe(stages[index + 1]?.name);
    });
  }));
});

test("an axis ends at a tick after all of it, with few ticks", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 * 86_400_000 }), (longest) => {
    const { end, ticks } = axis(longest);
    expect(end).toBeGreaterThanOrEqual(longest);
    expect(ticks.at(-1)).toBe(end);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(6);
  }));
  expect(axis(372_000).ticks).toEqual([0, 120_000, 240_000, 360_000, 480_000]);
});

test.each([[4000, "0:04"], [246_000, "4:06"], [3_723_000, "1:02:03"], [-5, "0:00"]])("%i ms are %s", (time, wanted) => expect(duration(time)).toBe(wanted));

test.each([
  ["node aws-w4: added (worker)", "+"], ["node aws-w3: removed (worker)", "−"], ["version: v1.36.4 -> v1.37.1", "~"], ["services: changed", "~"], ["addons: added", "+"],
])("%s is %s", (line, wanted) => expect(changeOf(line)).toBe(wanted));
