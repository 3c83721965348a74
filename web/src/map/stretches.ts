import type { Geometry } from "./geometry";
import type { Tie } from "./ties";

export interface Stretch {
  /** Where it begins and how long it is: from left to right, or from top to bottom where the map is turned. */
  x: number;
  width: number;
  tie: Tie;
  /** Where a pool loses a key on it. */
  lost: number[];
}

const rank: Readonly<Record<Tie, number>> = { has: 0, waits: 1, turn: 2, leaves: 3 };

/**
 * The line of some pools: pieces with the same tie. Where cells are large each node has its own; else a column of a block has what most
 * needs to be seen of its nodes.
 */
export function stretches(drawn: Geometry, names: ReadonlySet<string>): Stretch[] {
  const out: Stretch[] = [];
  /** The block that a pool is in as well as in the one before it: its line goes on over the room between them. */
  let joined = false;
  const push = (x: number, width: number, tie: Tie, lost: number | undefined) => {
    const before = out.at(-1);
    // Neighbours with the same tie are one piece; those that wait are told one by one where there is room.
    if (before?.tie === tie && (joined || x - before.x - before.width < 4) && (drawn.size !== "large" || tie !== "waits")) before.width = x + width - before.x;
    else out.push({ x, width, tie, lost: [] });
    if (lost !== undefined) out.at(-1)?.lost.push(lost);
  };
  let last: Geometry["bands"][number] | undefined;
  for (const band of drawn.bands) {
    const there = band.pools.some((pool) => names.has(pool));
    joined = there && last !== undefined && band.pools.some((pool) => names.has(pool) && last?.pools.includes(pool));
    last = band;
    if (!there) continue;
    for (let first = band.first; first < band.first + band.cells; first += band.rows) {
      const column = drawn.cells.slice(first, Math.min(first + band.rows, band.first + band.cells));
      let tie: Tie | undefined;
      let lost = false;
      for (const { nodes } of column) {
        for (const node of nodes) {
          for (const pool of node.pools) {
            const one = names.has(pool) ? node.ties[pool] : undefined;
            if (one && (tie === undefined || rank[one] > rank[tie])) tie = one;
          }
          lost ||= node.lost.some((pool) => names.has(pool));
        }
      }
      const cell = column[0];
      if (!cell || !tie) continue;
      const [begin, long] = drawn.turned ? [cell.y, cell.height] : [cell.x, cell.width];
      push(begin, long, tie, lost ? begin + long / 2 : undefined);
    }
  }
  return out;
}
