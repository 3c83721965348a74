/**
 * The rows of a list that is held, each as it is now: those that were there stay where they were, and those that have come are left out. It is the same
 * array for as long as nothing of it changes. A row can stand for several objects, and goes on as the one that has one of them. Where there is no row none
 * can move: an empty list is never held, or it would go on to say that there is nothing.
 */
export function inPlace<T>(held: readonly T[], now: readonly T[], uidsOf: (row: T) => readonly (string | undefined)[]): readonly T[] {
  if (held.length === 0) return now;
  const at = new Map(now.flatMap((row) => uidsOf(row).map((uid) => [uid, row] as const)));
  const taken = new Set<T>();
  const followed = held.map((row) => {
    const next = uidsOf(row).map((uid) => at.get(uid)).find((found) => found !== undefined && !taken.has(found));
    if (next !== undefined) taken.add(next);
    return { row, next };
  });
  // A row whose objects are all in rows above or below it by now has become one with these: it would be there twice, with the same key.
  const told = new Set([...taken].flatMap(uidsOf));
  const out = followed.flatMap(({ row, next }) => (next !== undefined ? [next] : uidsOf(row).every((uid) => told.has(uid)) ? [] : [row]));
  return out.length === held.length && out.every((row, index) => row === held[index]) ? held : out;
}

/** How many rows have come since a list is held, and how many of those that it shows have gone. */
export function movedOf<T>(shown: readonly T[], now: readonly T[]): { added: number; gone: number } {
  if (shown === now) return { added: 0, gone: 0 };
  const [before, after] = [new Set(shown), new Set(now)];
  return { added: now.filter((row) => !before.has(row)).length, gone: shown.filter((row) => !after.has(row)).length };
}
