import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shareStream } from "./share";
import { Source } from "./source.fake";
import { LiveStore } from "./store";

/** What tabs tell each other with: each message is there at once. */
class Channel {
  static readonly open = new Set<Channel>();
  onmessage: (message: { data: unknown }) => void = () => undefined;

  constructor() {
    Channel.open.add(this);
  }

  postMessage(data: unknown): void {
    for (const other of Channel.open) if (other !== this) other.onmessage({ data: structuredClone(data) });
  }

  close(): void {
    Channel.open.delete(this);
  }
}

/** Gives the lock to the first who asks. */
function locks() {
  let taken = false;
  const request = (_name: string, _options: object, held: () => Promise<void>) => {
    if (taken) return new Promise<void>(() => undefined);
    taken = true;
    return held();
  };
  return { request };
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
  const first = new LiveStore();
  shareStream(first);
  Source.newest?.onopen();
  Source.newest?.say({ type: "snapshot", kind: "nodepools", items: [], more: false });
  Source.newest?.say({ type: "complete", done: true });
  Source.newest?.say({ type: "stale", behind: ["nodepools"], since: new Date().toISOString() });
  const since = Date.now();
  for (let beats = 0; beats < 40; beats++) {
    vi.advanceTimersByTime(15_000);
    Source.newest?.say({ type: "beat" });
  }
  const second = new LiveStore();
  shareStream(second);
  expect([second.filled, second.link, second.time]).toEqual([true, "stale", since]);
});
