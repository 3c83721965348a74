import { expect, test } from "vitest";
import type { Schemas } from "../api/types";
import { LiveStore } from "./store";
import { receive } from "./stream";

function live(): LiveStore {
  const store = new LiveStore();
  receive(store, { type: "snapshot", kind: "nodepools", items: [], more: false });
  receive(store, { type: "complete", done: true });
  return store;
}

test("one kind whose watch is lost makes the API server silent", () => {
  const count = (kind: Schemas["KindName"]): Schemas["KindCounts"] => ({ kind, total: 1, ready: 1, pending: 0, failed: 0, reasons: [] });
  const tell = (behind: Schemas["KindName"][]) => { receive(store, { type: "stale", behind, since: "2026-01-01T00:00:00Z" }); };
  const store = live();
  // The counts are of all kinds that the caller sees, also of those that the stream does not follow.
  receive(store, { type: "summary", kinds: [count("nodepools"), count("kubeconfigs"), count("replicasets")], hidden: ["virtualmachines"] });
  tell(["kubeconfigs"]);
  expect([store.link, store.behind]).toEqual(["live", ["kubeconfigs"]]);
  const other = new LiveStore();
  other.load(store.dump());
  expect([other.link, other.behind], "in another tab").toEqual(["live", ["kubeconfigs"]]);
  receive(store, { type: "resync" });
  receive(store, { type: "complete", done: true });
  expect([store.link, store.behind], "after a snapshot").toEqual(["live", ["kubeconfigs"]]);
  tell(["kubeconfigs", "nodepools"]);
  expect([store.link, store.behind], "all that the caller sees").toEqual(["stale", []]);
  tell(["kubeconfigs"]);
  expect([store.link, store.behind], "the API server answers again").toEqual(["live", ["kubeconfigs"]]);
  receive(store, { type: "fresh" });
  expect([store.link, store.behind]).toEqual(["live", []]);
});

test("what may be old before there are counts is all that there is", () => {
  const store = live();
  receive(store, { type: "stale", behind: ["kubeconfigs"], since: "2026-01-01T00:00:00Z" });
  expect(store.link).toBe("stale");
  receive(store, { type: "summary", kinds: [{ kind: "nodepools", total: 2, ready: 2, pending: 0, failed: 0, reasons: [] }], hidden: [] });
  expect([store.link, store.behind]).toEqual(["live", ["kubeconfigs"]]);
});
