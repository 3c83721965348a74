import type { KubeObject, Objects, Plural, Schemas } from "../api/types";
import { allow, type Denials, deny, isDenied } from "./denied";
import { type Late, type Shelves, shelves } from "./shelves";

export type LinkState = "connecting" | "live" | "catching-up" | "cut" | "expired" | "stale";
export type Counts = Schemas["KindCounts"];

/** The kinds that are followed. Events are on request only, so all are named. */
export const followed: readonly Plural[] = [
  "nodes", "nodepools", "podsets", "deployments", "services", "pods", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools", "namespaces", "events",
];

/** All that a store has, for another one. */
export interface State {
  objects: { [K in Plural]?: readonly Objects[K][] };
  counts: readonly Counts[];
  hidden: readonly Schemas["KindName"][];
  denied: Denials;
  late: Late | undefined;
}

export function keyOf(of: { namespace?: string | undefined; name?: string | undefined }): string {
  return `${of.namespace ?? ""}/${of.name ?? ""}`;
}

/** How long changes are collected, in milliseconds. What pages make of thousands of objects they make anew each time, so that they are told less often. */
const collect = (objects: number) => (objects > 2000 ? 250 : 50);

/**
 * The objects that the stream has told of, and how the stream is. Readers are told of changes in bundles: a hundred changes a second
 * are twenty renders, or four where there are thousands of objects. During a snapshot the old objects stay on the page, and are exchanged at its end.
 */
export class LiveStore {
  #shelves = shelves();
  #incoming: Shelves | undefined;
  #lists: { [K in Plural]?: readonly Objects[K][] | undefined } = {};
  #inside: { [K in Plural]?: Map<string, readonly Objects[K][]> | undefined } = {};
  #listeners = new Map<string, Set<() => void>>();
  #dirty = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  link: LinkState = "connecting";
  /** When the last event came, in milliseconds. */
  heard = Date.now();
  /** Since when the stream is cut: what is shown is from then. */
  lost = 0;
  /** Tries to connect at once, where the stream is cut. */
  retry: () => void = () => undefined;
  /** What the server says may be old; undefined while nothing is. */
  #late: Late | undefined;
  /** The kinds that may be old while others are not: the API server answers, and the gateway cannot watch these. */
  behind: readonly Plural[] = [];
  /** Whether there has been a whole snapshot. */
  filled = false;
  counts: readonly Counts[] = [];
  hidden: readonly Schemas["KindName"][] = [];
  denied: Denials = new Map();

  list<K extends Plural>(kind: K): readonly Objects[K][] {
    const lists: { [P in K]?: readonly Objects[P][] | undefined } = this.#lists;
    return (lists[kind] ??= [...this.#shelves[kind].values()]);
  }

  /** Those in a namespace, and in none: as long the same for all readers. */
  within<K extends Plural>(kind: K, namespace: string): readonly Objects[K][] {
    const inside: { [P in K]?: Map<string, readonly Objects[P][]> | undefined } = this.#inside;
    const lists = (inside[kind] ??= new Map<string, readonly Objects[K][]>());
    let list = lists.get(namespace);
    if (!list) {
      const all = this.list(kind);
      const some = all.filter((object) => {
        const metadata: KubeObject["metadata"] = object.metadata ?? {};
        return metadata.namespace === undefined || metadata.namespace === namespace;
      });
      lists.set(namespace, (list = some.length === all.length ? all : some));
    }
    return list;
  }

  get<K extends Plural>(kind: K, namespace: string | undefined, name: string): Objects[K] | undefined {
    return this.#shelves[kind].get(keyOf({ namespace, name }));
  }

  /** The same by its key. */
  at<K extends Plural>(kind: K, key: string): Objects[K] | undefined {
    return this.#shelves[kind].get(key);
  }

  subscribe(topic: string, call: () => void): () => void {
    let calls = this.#listeners.get(topic);
    if (!calls) this.#listeners.set(topic, (calls = new Set()));
    calls.add(call);
    return () => calls.delete(call);
  }

  put<K extends Plural>(kind: K, objects: readonly Objects[K][]): void {
    for (const object of objects) {
      const metadata: KubeObject["metadata"] = object.metadata ?? {};
      if (this.denied.has(kind)) this.denied = allow(this.denied, kind, metadata.namespace);
      this.#incoming?.[kind].set(keyOf(metadata), object);
      if (!this.#incoming || !this.filled) this.#shelves[kind].set(keyOf(metadata), object);
    }
    if (!this.#incoming || !this.filled) this.#touch(kind);
  }

  remove(kind: Plural, namespace: string, name: string): void {
    this.#incoming?.[kind].delete(keyOf({ namespace, name }));
    this.#shelves[kind].delete(keyOf({ namespace, name }));
    this.#touch(kind);
  }

  /** A snapshot begins: what it does not have is gone at its end. */
  begin(): void {
    this.#incoming ??= shelves();
  }

  /** A snapshot begins again: objects of the part that came before may be gone. */
  beginAnew(): void {
    this.#incoming = shelves();
  }

  complete(): void {
    if (this.#incoming) this.#shelves = this.#incoming;
    this.#incoming = undefined;
    this.filled = true;
    for (const kind of followed) this.#touch(kind);
    this.setLink("live");
    this.#judge(); // a snapshot is no younger than what it is made of
  }

  setCounts(counts: readonly Counts[], hidden: readonly Schemas["KindName"][]): void {
    this.counts = counts;
    this.hidden = hidden;
    this.#touch("counts");
    if (this.#late) this.#judge();
  }

  /** Notes what the caller may not see, or no longer: the objects of a kind in some namespaces, or all of them. */
  deny(kind: string, namespaces: readonly string[] | null): void {
    this.denied = deny(this.denied, kind, namespaces);
    this.#touch("counts");
  }

  /** Whether an object is out of sight because the caller may not see it, and not because it is gone. */
  isDenied(kind: Plural, namespace: string | undefined): boolean {
    return isDenied(this.denied, kind, namespace);
  }

  /** Whether there has been a snapshot and none is under way. */
  get whole(): boolean {
    return this.filled && this.#incoming === undefined;
  }

  /** All that there is now: the lists of readers are those of before, until they have been told of a change. */
  dump(): State {
    const objects: State["objects"] = {};
    const take = <K extends Plural>(kind: K) => { const into: { [P in K]?: readonly Objects[P][] } = objects; into[kind] = [...this.#shelves[kind].values()]; };
    followed.forEach(take);
    return { objects, counts: this.counts, hidden: this.hidden, denied: this.denied, late: this.#late };
  }

  load(state: State): void {
    this.begin();
    const give = <K extends Plural>(kind: K) => { this.put(kind, state.objects[kind] ?? []); };
    followed.forEach(give);
    this.denied = state.denied;
    this.#late = state.late;
    this.setCounts(state.counts, state.hidden);
    this.complete();
  }

  /** Whether somebody has to sign in again: what is open then stays open behind it. */
  get ended(): boolean {
    return this.link === "expired";
  }

  /** The time of what is shown: it stands still where nothing new comes. */
  get time(): number {
    return this.link === "cut" || this.link === "stale" ? this.lost : Date.now();
  }

  hear(): void {
    this.heard = Date.now();
  }

  /** Notes since when what the server tells may be old, and of which kinds, or that it is not. */
  setBehind(late?: Late): void {
    this.#late = late;
    this.#judge();
  }

  /** The API server is silent only if nothing new comes of any kind that the caller sees: of these there are counts. */
  #judge(): void {
    const kinds = this.#late?.kinds ?? [];
    const some = this.counts.some(({ kind }) => followed.some((known) => known === kind) && !kinds.includes(kind));
    this.behind = some ? followed.filter((kind) => kinds.includes(kind)) : [];
    this.#touch("link");
    if (this.#late && !some) this.setLink("stale", this.#late.since);
    else if (this.link === "stale") this.setLink("live");
  }

  setLink(link: LinkState, lost = Date.now()): void {
    if (this.link === link) return;
    this.link = link;
    this.lost = lost;
    this.#touch("link");
  }

  /** Forgets everything, for another caller. */
  clear(): void {
    this.#shelves = shelves();
    this.#incoming = undefined;
    this.#late = undefined;
    this.behind = [];
    this.filled = false;
    this.denied = new Map();
    this.setCounts([], []);
    for (const kind of followed) this.#touch(kind);
  }

  #touch(topic: string): void {
    this.#dirty.add(topic);
    this.#timer ??= setTimeout(() => this.#tell(), collect(followed.reduce((sum, kind) => sum + this.#shelves[kind].size, 0)));
  }

  #tell(): void {
    this.#timer = undefined;
    const topics = [...this.#dirty];
    this.#dirty.clear();
    for (const kind of followed) if (topics.includes(kind)) this.#lists[kind] = this.#inside[kind] = undefined;
    this.#tellEach(topics);
  }

  /** Tells of one topic after another, each in a task of its own: all at once would take longer than a frame where there are thousands of objects. */
  #tellEach([topic, ...rest]: readonly string[]): void {
    if (topic === undefined) return;
    for (const call of this.#listeners.get(topic) ?? []) call();
    if (rest.length > 0) setTimeout(() => this.#tellEach(rest), 0);
  }
}

export const store = new LiveStore();
