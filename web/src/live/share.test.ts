import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shareStream, tellOut } from "./share";
import { Source } from "./source.fake";
import { LiveStore } from "./store";

/** What tabs tell each other with: each message is there at once. */
class Channel {
  static readonly open = new Set<Channel>();
  readonly #name: string;
  onmessage: (message: { data: unknown }) => void = () => undefined;

  constructor(name: string) {
    this.#name = name;
    Channel.open.add(this);
  }

  postMessage(data: unknown): void {
    for (const other of Channel.open) if (other !== this && other.#name === this.#name) other.onmessage({ data: structuredClone(data) });
  }

  close(): void {
    Channel.open.delete(this);
  }
}

/** Gives a lock to the first who asks for it. */
function locks() {
  const taken = new Set<string>();
  const request = (name: string, _options: object, held: () => Promise<void>) => {
    if (taken.has(name)) return new Promise<void>(() => undefined);
    taken.add(name);
    return held();
  };
  return { request };
}

/** A tab of a user whose stream is live. */
function filled(user: string): LiveStore {
  const store = new LiveStore();
  shareStream(store, user);
  Source.newest?.onopen();
  Source.newest?.say({ type: "snapshot", kind: "nodepools", items: [], more: false });
  Source.newest?.say({ type: "complete", done: true });
  return store;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", Channel);
  vi.stubGlobal("EventSource", Source);
  Source.opened = [];
  vi.stubGlobal("navigator", { locks: locks() });
});

afterEach(() => {
  Channel.open.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a tab that is opened while the API server is away counts from when it was opened", () => {
  filled("ann");
  Source.newest?.say({ type: "stale", behind: ["nodepools"], since: new Date().toISOString() });
  const since = Date.now();
  for (let beats = 0; beats < 40; beats++) {
    vi.advanceTimersByTime(15_000);
    Source.newest?.say({ type: "beat" });
  }
  const second = new LiveStore();
  shareStream(second, "ann");
  expect([second.filled, second.link, second.time]).toEqual([true, "stale", since]);
});

test("what was old before the stream was cut is not old in the other tabs for ever", () => {
  const [leader, other] = [filled("ann"), new LiveStore()];
  shareStream(other, "ann");
  const counts = (kind: "nodepools" | "nodes") => ({ kind, total: 0, ready: 0, pending: 0, failed: 0, reasons: [] });
  const are = () => [leader, other].map(({ link, behind }) => [link, behind]);
  /** The browser connects again, as after a restart of the gateway, which now watches everything. */
  const reconnect = () => {
    Source.newest?.onerror();
    vi.advanceTimersByTime(2000);
    Source.newest?.onopen();
    Source.newest?.say({ type: "resync" });
    Source.newest?.say({ type: "snapshot", kind: "nodepools", items: [], more: false });
    Source.newest?.say({ type: "complete", done: true });
    vi.advanceTimersByTime(1000);
  };
  const stale = () => { Source.newest?.say({ type: "stale", behind: ["nodepools"], since: new Date().toISOString() }); vi.advanceTimersByTime(100); };
  Source.newest?.say({ type: "summary", kinds: [counts("nodepools")], hidden: [] });
  stale();
  expect(are()).toEqual([["stale", []], ["stale", []]]);
  reconnect();
  expect(are()).toEqual([["live", []], ["live", []]]);
  Source.newest?.say({ type: "summary", kinds: [counts("nodepools"), counts("nodes")], hidden: [] });
  stale();
  expect(are(), "one kind of two").toEqual([["live", ["nodepools"]], ["live", ["nodepools"]]]);
  reconnect();
  expect(are()).toEqual([["live", []], ["live", []]]);
});

test("a tab of the one before gives nothing to the one who signs in next", () => {
  const before = filled("ann");
  const next = new LiveStore();
  shareStream(next, "ben");
  expect([before.link, next.filled, next.link], "they have a stream of their own").toEqual(["live", false, "connecting"]);
});

test("who signs out in one tab is signed out in all of theirs, and nobody else is", () => {
  const [leader, other] = [filled("ann"), new LiveStore()];
  shareStream(other, "ann");
  const next = filled("ben");
  tellOut("ann");
  expect([leader.link, other.link, next.link]).toEqual(["expired", "expired", "live"]);
});
