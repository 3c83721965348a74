import fc from "fast-check";
import { expect, test } from "vitest";
import type { Objects } from "../../api/types";
import { matching, newest } from "./events";

type Event = Objects["events"];
const event = (uid: string, of: Partial<Event> = {}) => ({ apiVersion: "v1", kind: "Event", metadata: { name: uid, uid }, involvedObject: { kind: "Pod", namespace: "shop", name: uid }, ...of }) as Event;
const uids = (events: readonly Event[]) => events.map(({ metadata }) => metadata.uid);

test("the newest events are those that a sort of all puts first, in its order", () => {
  const time = fc.integer({ min: 0, max: 20 }).map((second) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`);
  fc.assert(fc.property(fc.array(time, { maxLength: 60 }), fc.constantFrom(0, 1, 8, Infinity), (times, limit) => {
    const events = times.map((lastTimestamp, at) => event(String(at), { lastTimestamp }));
    const sorted = [...events].sort((a, b) => ((a.lastTimestamp ?? "") < (b.lastTimestamp ?? "") ? 1 : (a.lastTimestamp ?? "") > (b.lastTimestamp ?? "") ? -1 : 0));
    expect(uids(newest(events, limit))).toEqual(uids(sorted.slice(0, limit)));
  }));
});

test("events are chosen by selectors and by words, and all are the same list", () => {
  const events = [event("web", { reason: "Pulled" }), event("db", { message: "Back-off pulling" }), event("job")];
  expect(matching(events, undefined, " ")).toBe(events);
  expect(uids(matching(events, undefined, "PULL"))).toEqual(["web", "db"]);
  expect(uids(matching(events, undefined, "shop pulled"))).toEqual(["web"]);
  expect(uids(matching(events, new Set(["db", "job"]), "pull"))).toEqual(["db"]);
});
