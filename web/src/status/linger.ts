import type { Matter } from "./order";

/** A row that is shown; one that is solved stays in its place until then. */
export interface Shown extends Matter {
  until?: number;
}

/** How long what is solved stays, in milliseconds. */
const stays = 10_000;

function uids(matter: Matter): string[] {
  return matter.objects.map((object) => object.metadata.uid ?? "");
}

/**
 * The rows as they are now, and between them in their places those that were solved a moment ago, as Ready. What only has another reason
 * is in another row, and what was deleted is gone: isReady tells them from what is solved.
 */
export function linger(before: readonly Shown[], now: readonly Matter[], isReady: (plural: string, uid: string) => boolean, time: number): Shown[] {
  const out: Shown[] = [...now];
  const there = new Set(now.flatMap(uids));
  before.forEach((row, at) => {
    if (row.until !== undefined ? row.until <= time : uids(row).some((uid) => there.has(uid))) return;
    if (!uids(row).every((uid) => !there.has(uid) && isReady(row.plural, uid))) return;
    out.splice(Math.min(at, out.length), 0, { plural: row.plural, objects: row.objects, status: { name: "ready" }, until: row.until ?? time + stays });
  });
  return out;
}
