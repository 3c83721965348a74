/** Where each row begins, and where the last one ends. */
export function offsets(heights: readonly number[]): number[] {
  const out = [0];
  for (const height of heights) out.push((out.at(-1) ?? 0) + height);
  return out;
}

/** The first row that ends after a place. */
export function rowAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = Math.max(0, starts.length - 2);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle + 1] ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface Piece {
  /** Room before the row where rows are left out, in pixels. */
  gap: number;
  index: number;
}

/**
 * The rows that are in the page: those in sight, some around them, and the one that has the focus, wherever it is. Rows that are left out
 * are room.
 */
export function pieces(starts: readonly number[], top: number, bottom: number, focused: number, around = 8): { pieces: Piece[]; rest: number } {
  const count = starts.length - 1;
  if (count <= 0) return { pieces: [], rest: 0 };
  const from = Math.max(0, rowAt(starts, top) - around);
  const until = Math.min(count - 1, rowAt(starts, bottom) + around);
  const rows: number[] = [];
  if (focused >= 0 && focused < from) rows.push(focused);
  for (let at = from; at <= until; at++) rows.push(at);
  if (focused > until && focused < count) rows.push(focused);
  let end = 0;
  const out = rows.map((index) => {
    const gap = (starts[index] ?? 0) - end;
    end = starts[index + 1] ?? 0;
    return { gap, index };
  });
  return { pieces: out, rest: (starts[count] ?? 0) - end };
}
