import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { KubeObject, Objects, Plural } from "../api/types";
import { type Counts, type LinkState, store } from "./store";

/** All objects of a kind, in a namespace or everywhere. */
export function useObjects<K extends Plural>(kind: K, namespace?: string): readonly Objects[K][] {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe(kind, call), [kind]), () => (namespace ? store.within(kind, namespace) : store.list(kind)));
}

export function useObject<K extends Plural>(kind: K, namespace: string | undefined, name: string): Objects[K] | undefined {
  return useSyncExternalStore(
    useCallback((call: () => void) => store.subscribe(kind, call), [kind]),
    () => store.get(kind, namespace, name),
  );
}

/** An object as it is, or as it was when it was last there, with the time at which it went, and whether only the right to see it did. */
export function useLast(kind: Plural, namespace: string | undefined, name: string): { object: KubeObject | undefined; gone: string | undefined; denied: boolean } {
  const now: KubeObject | undefined = useObject(kind, namespace, name);
  const key = `${kind}/${namespace ?? ""}/${name}`;
  const last = useRef<{ key: string; object: KubeObject; gone?: string; denied?: boolean }>(undefined);
  if (now) last.current = { key, object: now };
  else if (last.current?.key !== key) last.current = undefined;
  else {
    last.current.gone ??= new Date().toISOString();
    last.current.denied ??= store.isDenied(kind, namespace);
  }
  return { object: last.current?.object, gone: last.current?.gone, denied: last.current?.denied === true };
}

export function useCounts(): readonly Counts[] {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe("counts", call), []), () => store.counts);
}

export function useHidden(): readonly string[] {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe("counts", call), []), () => store.hidden);
}

/** Whether the stream has said that the caller may not see such objects. */
export function useDenied(kind: Plural, namespace: string | undefined): boolean {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe("counts", call), []), () => store.isDenied(kind, namespace));
}

export function useLink(): LinkState {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe("link", call), []), () => store.link);
}

/** The kinds that may be old while others are not. */
export function useBehind(): readonly Plural[] {
  return useSyncExternalStore(useCallback((call: () => void) => store.subscribe("link", call), []), () => store.behind);
}

/** Whether the first snapshot is there. It comes with the link. */
export function useFilled(): boolean {
  return useSyncExternalStore(
    useCallback((call: () => void) => {
      const ends = [store.subscribe("link", call), store.subscribe("namespaces", call)];
      return () => { for (const end of ends) end(); };
    }, []),
    () => store.filled,
  );
}

/** A value that follows another one, at most so often: for what is made of all objects, and looked at by nobody closely. */
export function useSlowly<T>(value: T, every: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    latest.current = value;
    timer.current ??= setTimeout(() => { timer.current = undefined; setShown(latest.current); }, every);
  }, [value, every]);
  useEffect(() => () => { clearTimeout(timer.current); timer.current = undefined; }, []);
  return shown;
}

/** The time, which moves once a second, and stands still where nothing new comes: ages then are those of what is shown. */
export function useNow(every = 1000): number {
  const [now, setNow] = useState(() => store.time);
  useEffect(() => {
    const timer = setInterval(() => setNow(store.time), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** What the data that are there answer: the question before, while the answer to a new one is pending. */
export function useAnswered(asked: string, pending: boolean): string {
  const last = useRef(asked);
  if (!pending) last.current = asked;
  return last.current;
}

/**
 * A value that changes only while the reader is not there: held is true while pointer or focus is in a list. The order then stays, and
 * what has changed meanwhile is for the reader to ask for. of is what the value answers: who asks for something else gets it at once. grow
 * puts to what is held that which the reader has asked for by other means.
 */
export function useHeld<T>(value: T, held: boolean, of: string, grow: (held: T, now: T) => T = asItWas): { shown: T; stale: boolean; show: () => void } {
  const [last, setLast] = useState({ value, of });
  const latest = useRef(last);
  latest.current = { value, of };
  const holds = held && last.of === of;
  const shown = useMemo(() => (holds ? grow(last.value, value) : value), [holds, grow, last, value]);
  useEffect(() => setLast((before) => (before.value === shown && before.of === of ? before : { value: shown, of })), [shown, of]);
  return { shown, stale: holds && shown !== value, show: () => setLast(latest.current) };
}

function asItWas<T>(held: T): T {
  return held;
}
