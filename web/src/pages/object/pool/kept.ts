import { draftOf, keepDraft } from "../../../editor/draft";
import { type Json, same } from "../../../editor/json";
import type { PoolSpec } from "./orders";

/** A change of a pool that is not finished. Whoever closes its dialog, or loads the page anew, finds it again. */
export interface Kept {
  text: string;
  stage: "edit" | "rehearsed";
  /** The generation of the pool from which it goes on: what somebody else has changed since is never overwritten. */
  generation: number;
  before: { text: string; spec: PoolSpec };
  /** The spec that a rehearsal has written: with it there is something to take back. */
  written?: PoolSpec;
  /** What was sent last, with the text that it was made of, as long as nobody has answered: it can be written although the answer was lost. */
  sent?: { text: string; spec: PoolSpec } | undefined;
}

/** A pool as somebody has been told of it. */
interface Now {
  generation: number;
  spec: PoolSpec;
}

interface Of {
  name: string;
  uid: string;
}

const key = ({ name }: Of) => `change/${name}`;

/** The spec as JSON has it: a field without a value is none. */
function plain(spec: PoolSpec): Json {
  return JSON.parse(JSON.stringify(spec));
}

/** The change once what was sent is written: what was typed since stays, and is not what is rehearsed. */
export function answered({ sent, ...rest }: Kept, generation: number): Kept {
  return sent ? { ...rest, stage: rest.text === sent.text ? "rehearsed" : "edit", generation, written: sent.spec } : rest;
}

/** The change as it is now: one that was sent and not answered has arrived where the pool is what was sent. */
export function arrived(change: Kept, now: Now): Kept {
  return change.sent && isDone(change, change.sent.spec, now) ? answered(change, now.generation) : change;
}

/** Whether the pool has become what was ordered of it since: then it is done, also where the answer was lost. */
export function isDone(change: Kept, ordered: PoolSpec, { generation, spec }: Now): boolean {
  return generation > change.generation && same(plain(spec), plain(ordered));
}

/** The change that this tab has begun, if nobody else has changed the pool since. */
export function keptOf(pool: Of, now: Now, store?: Storage): Kept | undefined {
  const draft = draftOf(key(pool), store);
  if (draft?.uid !== pool.uid) return undefined;
  try {
    const base: Omit<Kept, "text"> = JSON.parse(draft.base);
    const kept = arrived({ ...base, text: draft.text }, now);
    // What this tab has written is sometimes known to it sooner than to those whom it asks.
    return kept.generation >= now.generation ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a change, and forgets one that is none or that is over. */
export function keep(pool: Of, change: Kept | undefined, store?: Storage): void {
  const begun = change && (change.written !== undefined || change.sent !== undefined || change.text !== change.before.text);
  if (!begun) return keepDraft(key(pool), undefined, store);
  const { text, ...base } = change;
  keepDraft(key(pool), { text, base: JSON.stringify(base), uid: pool.uid }, store);
}
