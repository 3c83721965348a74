/** What somebody has typed and not yet saved, of one object. */
export interface Draft {
  text: string;
  /** The object as it was when they began, as text; nothing for one that does not exist yet. */
  base: string;
  uid: string;
}

/** Where the name stands of the one who has typed the drafts. */
const owner = "windlass.draft-of";

function key(of: string): string {
  return `windlass.draft.${of}`;
}

/** Reads a draft of this tab. A reload, a cut and an expired session leave it as it is. */
export function draftOf(of: string, store: Storage = sessionStorage): Draft | undefined {
  try {
    const read: unknown = JSON.parse(store.getItem(key(of)) ?? "null");
    if (typeof read !== "object" || read === null || !("text" in read) || !("base" in read) || !("uid" in read)) return undefined;
    const { text, base, uid } = read;
    return typeof text === "string" && typeof base === "string" && typeof uid === "string" ? { text, base, uid } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a draft, or forgets it. A full store is no reason to stop somebody who types. */
export function keepDraft(of: string, draft: Draft | undefined, store: Storage = sessionStorage): void {
  try {
    if (draft) store.setItem(key(of), JSON.stringify(draft));
    else store.removeItem(key(of));
  } catch {
    // The text is still on the page.
  }
}

/** Forgets all drafts: the next one to sign in is somebody else. */
export function forgetDrafts(store: Storage = sessionStorage): void {
  for (const name of Array.from({ length: store.length }, (_, index) => store.key(index))) if (name?.startsWith(key(""))) store.removeItem(name);
}

/** Says who types from now on: what somebody else has left here is forgotten. */
export function draftsOf(user: string, store: Storage = sessionStorage): void {
  try {
    if (store.getItem(owner) === user) return;
    forgetDrafts(store);
    store.setItem(owner, user);
  } catch {
    // Whose they are stays unknown, and then they are forgotten the next time.
  }
}
