import { expect, test, vi } from "vitest";
import type { Schemas } from "../api/types";
import { Source } from "./source.fake";
import { LiveStore } from "./store";
import { follow, receive } from "./stream";

function pool(name: string, priority: number): Schemas["NodePool"] {
  return { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" }, spec: { priority } };
}

const names = (store: LiveStore) => store.list("nodepools").map((each) => each.metadata.name);

function filled(): LiveStore {
  const store = new LiveStore();
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("a", 1), pool("b", 1)], more: false });
  receive(store, { type: "complete", done: true });
  return store;
}

test("a snapshot fills the store, and changes follow", () => {
  const store = filled();
  expect(names(store)).toEqual(["a", "b"]);
  expect(store.link).toBe("live");
  receive(store, { type: "delete", kind: "nodepools", namespace: "", name: "a", uid: "a" });
  expect(store.get("nodepools", undefined, "a")).toBeUndefined();
});

test("what is shown stays during a resync, and what is gone leaves at its end", () => {
  const store = filled();
  receive(store, { type: "resync" });
  expect(store.link).toBe("catching-up");
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("b", 2)], more: false });
  expect(store.get("nodepools", undefined, "a")).toBeDefined();
  receive(store, { type: "complete", done: true });
  expect(store.get("nodepools", undefined, "a")).toBeUndefined();
  expect(store.get("nodepools", undefined, "b")?.spec?.priority).toBe(2);
});

test("objects of a resync that was cut stay after they are gone", () => {
  const store = filled();
  receive(store, { type: "resync" });
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("a", 1)], more: true });
  // The stream is cut here, a is deleted, and the stream begins again.
  receive(store, { type: "resync" });
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("b", 1)], more: false });
  receive(store, { type: "complete", done: true });
  expect(names(store)).toEqual(["b"]);
});

test("a snapshot of what may be old does not make it live", () => {
  const store = new LiveStore();
  const stale: Schemas["WatchEvent"] = { type: "stale", behind: ["nodepools"], since: "2026-01-01T00:00:00Z" };
  receive(store, stale);
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("a", 1)], more: false });
  receive(store, { type: "complete", done: true });
  const { lost } = store;
  expect(store.link).toBe("stale");
  receive(store, { type: "resync" });
  receive(store, { type: "complete", done: true });
  expect([store.link, store.time]).toEqual(["stale", lost]);
  receive(store, { type: "fresh" });
  expect(store.link).toBe("live");
  receive(store, stale);
  store.clear();
  receive(store, { type: "complete", done: true });
  expect(store.link, "of another caller").toBe("live");
});

test("a tab that comes before readers are told of a snapshot gets no objects", () => {
  const store = new LiveStore();
  const other = new LiveStore();
  expect(names(store)).toEqual([]); // a page has read the list
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("a", 1)], more: false });
  receive(store, { type: "complete", done: true });
  other.load(store.dump());
  expect(names(other)).toEqual(["a"]);
});

test("a tab that comes before readers are told of a resync gets the objects of before", () => {
  const store = filled();
  const other = new LiveStore();
  expect(names(store)).toEqual(["a", "b"]); // a page has read the list
  receive(store, { type: "resync" });
  receive(store, { type: "snapshot", kind: "nodepools", items: [pool("b", 2), pool("c", 1)], more: false });
  receive(store, { type: "complete", done: true });
  other.load(store.dump());
  expect(names(other)).toEqual(["b", "c"]);
});

test("objects of a snapshot that was cut stay in all tabs after they are gone", () => {
  vi.stubGlobal("EventSource", Source);
  Source.opened = [];
  try {
    const store = new LiveStore();
    const other = new LiveStore();
    const stream = follow(store, (event) => { receive(other, event); });
    Source.opened[0]?.onopen();
    Source.opened[0]?.say({ type: "snapshot", kind: "nodepools", items: [pool("a", 1)], more: true });
    stream.retry(); // a new source, which has no id: the server does not say resync
    Source.opened[1]?.onopen();
    expect(store.link).toBe("catching-up");
    Source.opened[1]?.say({ type: "snapshot", kind: "nodepools", items: [pool("b", 1)], more: false });
    Source.opened[1]?.say({ type: "complete", done: true });
    expect([names(store), names(other)]).toEqual([["b"], ["b"]]);
  } finally {
    vi.unstubAllGlobals();
  }
});

test.each([[401, "expired", 1], [200, "cut", 2], [503, "cut", 2]])("after a stream that is refused, and %d for the session, the page is %s and has opened %d", async (status, link, opened) => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status })));
  Source.opened = [];
  try {
    const store = filled();
    const told: string[] = [];
    const stream = follow(store, (event) => { told.push(event.type); });
    Source.newest?.refuse();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([store.link, Source.opened.length]).toEqual([link, opened]);
    expect(told, "what other tabs are told").toEqual(status === 401 ? ["expired"] : []);
    stream.stop();
  } finally {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  }
});

test("a connection that nothing comes through any more is cut off, and another one is opened", () => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
  Source.opened = [];
  try {
    const store = filled();
    const stream = follow(store);
    Source.newest?.onopen();
    Source.newest?.say({ type: "snapshot", kind: "nodepools", items: [pool("a", 1), pool("b", 1)], more: false });
    Source.newest?.say({ type: "complete", done: true });
    for (let beats = 0; beats < 8; beats++) {
      vi.advanceTimersByTime(15_000);
      Source.newest?.say({ type: "beat" });
    }
    expect([store.link, Source.opened.length], "a stream that lives, and has nothing to tell").toEqual(["live", 1]);
    const heard = Date.now();
    vi.advanceTimersByTime(60_000);
    expect([store.link, store.lost, Source.opened.length], "packets vanish, and no error is told").toEqual(["cut", heard, 2]);
    // Nor does the next connection come through, and then one does.
    vi.advanceTimersByTime(45_000);
    expect([store.link, store.lost, Source.opened.length]).toEqual(["cut", heard, 3]);
    Source.newest?.onopen();
    expect(store.link, "what is shown is still from before the cut").toBe("catching-up");
    Source.newest?.say({ type: "snapshot", kind: "nodepools", items: [pool("c", 1)], more: false });
    expect([store.link, names(store)]).toEqual(["catching-up", ["a", "b"]]);
    Source.newest?.say({ type: "complete", done: true });
    expect(store.link).toBe("live");
    // A browser that resumes its stream gets no snapshot.
    Source.newest?.onopen();
    expect(store.link).toBe("live");
    stream.stop();
    vi.advanceTimersByTime(600_000);
    expect(Source.opened.length, "a stream that was stopped is opened again").toBe(3);
  } finally {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  }
});

test("another tab gets all of it", () => {
  const other = new LiveStore();
  other.load(filled().dump());
  expect(names(other)).toEqual(["a", "b"]);
  expect(other.whole).toBe(true);
});

test.each([[100, 20], [3000, 4]])("a hundred changes a second among %d objects are told %d times", (objects, times) => {
  vi.useFakeTimers();
  try {
    const store = filled();
    store.put("nodepools", Array.from({ length: objects }, (_, at) => pool(`pool-${at}`, 1)));
    vi.advanceTimersByTime(1000);
    const told = vi.fn();
    store.subscribe("nodepools", told);
    for (let at = 0; at < 100; at++) {
      store.put("nodepools", [pool(`pool-${at}`, 2)]);
      vi.advanceTimersByTime(10);
    }
    expect(told.mock.calls.length).toBeGreaterThan(times - 4);
    expect(told.mock.calls.length).toBeLessThanOrEqual(times);
    expect(store.get("nodepools", undefined, "pool-7")?.spec?.priority).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test("what somebody may not see any more is not gone, and what they may see again is not denied", () => {
  const store = filled();
  const denied = (...namespaces: string[]) => namespaces.map((namespace) => store.isDenied("services", namespace));
  receive(store, { type: "denied", kind: "nodepools", namespaces: null });
  receive(store, { type: "denied", kind: "services", namespaces: ["a"] });
  receive(store, { type: "denied", kind: "services", namespaces: ["b"] });
  receive(store, { type: "resync" });
  receive(store, { type: "complete", done: true });
  expect([store.isDenied("nodepools", undefined), store.isDenied("nodes", undefined), ...denied("a", "b", "c")]).toEqual([true, false, true, true, false]);
  const service: Schemas["Service"] = { apiVersion: "v1", kind: "Service", metadata: { namespace: "a", name: "web", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" } };
  receive(store, { type: "snapshot", kind: "services", items: [service], more: false });
  receive(store, { type: "upsert", kind: "nodepools", object: pool("a", 1) });
  expect([store.isDenied("nodepools", undefined), ...denied("a", "b")]).toEqual([false, false, true]);
});

test("who may see one namespace and no longer all is not told that the objects of others are gone", () => {
  const store = filled();
  const service = (namespace: string): Schemas["Service"] => ({ apiVersion: "v1", kind: "Service", metadata: { namespace, name: "web", uid: namespace, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" } });
  const denied = () => ["a", "b", undefined].map((namespace) => store.isDenied("services", namespace));
  receive(store, { type: "denied", kind: "services", namespaces: null });
  receive(store, { type: "resync" });
  receive(store, { type: "snapshot", kind: "services", items: [service("a")], more: false });
  receive(store, { type: "complete", done: true });
  expect(denied()).toEqual([false, true, true]);
  const other = new LiveStore();
  other.load(store.dump());
  expect(other.isDenied("services", "b")).toBe(true);
  receive(store, { type: "upsert", kind: "services", object: service("b") });
  expect(denied()).toEqual([false, false, true]);
  receive(store, { type: "denied", kind: "services", namespaces: ["a"] });
  expect(denied()).toEqual([true, false, true]);
});

test("an end of the session is told", () => {
  const store = filled();
  receive(store, { type: "expired" });
  expect(store.link).toBe("expired");
});
