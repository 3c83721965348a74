import { draftOf, keepDraft } from "../../../editor/draft";
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
}

interface Of {
  name: string;
  uid: string;
}

const key = ({ name }: Of) => `change/${name}`;

/** The change that this tab has begun, if nobody else has changed the pool since. */
export function keptOf(pool: Of, generation: number, store?: Storage): Kept | undefined {
  const draft = draftOf(key(pool), store);
  if (draft?.uid !== pool.uid) return undefined;
  try {
    const kept: Omit<Kept, "text"> = JSON.parse(draft.base);
    // What this tab has written is sometimes known to it sooner than to those whom it asks.
    return kept.generation >= generation ? { ...kept, text: draft.text } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a change, and forgets one that is none or that is over. */
export function keep(pool: Of, change: Kept | undefined, store?: Storage): void {
  const begun = change && (change.written !== undefined || change.text !== change.before.text);
  if (!begun) return keepDraft(key(pool), undefined, store);
  const { text, ...base } = change;
  keepDraft(key(pool), { text, base: JSON.stringify(base), uid: pool.uid }, store);
}
