/** A node as the map needs it. */
export interface Spot {
  name: string;
  zone: string;
  /** Names of its pools. */
  pools: readonly string[];
}

export interface Block<S extends Spot> {
  /** Names of the pools that all nodes of the block are in, sorted. */
  pools: readonly string[];
  spots: readonly S[];
}

export interface Layout<S extends Spot> {
  /** Pools from top to bottom, in the order in which their lines begin. */
  pools: readonly string[];
  blocks: readonly Block<S>[];
}

function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function shared(a: readonly string[], b: readonly string[]): number {
  return a.filter((pool) => b.includes(pool)).length;
}

/** How far every block is from one, by blocks that share a pool. */
function distances<S extends Spot>(blocks: readonly Block<S>[], from: number): number[] {
  const out = blocks.map(() => -1);
  out[from] = 0;
  const queue = [from];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const here = blocks[at];
    if (!here) continue;
    blocks.forEach((other, index) => {
      if (out[index] === -1 && shared(here.pools, other.pools) > 0) {
        out[index] = (out[at] ?? 0) + 1;
        queue.push(index);
      }
    });
  }
  return out;
}

function furthest<S extends Spot>(blocks: readonly Block<S>[], from: number): { index: number; distance: number } {
  let index = from;
  let distance = 0;
  distances(blocks, from).forEach((each, at) => { if (each > distance) { distance = each; index = at; } });
  return { index, distance };
}

/** The end of the longest chain among blocks that are sorted by name. */
function chainEnd<S extends Spot>(blocks: readonly Block<S>[]): number {
  let best = { index: 0, distance: -1 };
  blocks.forEach((_, index) => {
    const end = furthest(blocks, furthest(blocks, index).index);
    if (end.distance > best.distance) best = end;
  });
  // Of the two ends, the one whose name comes first.
  return Math.min(best.index, furthest(blocks, best.index).index);
}

/** How many blocks there may be for every start to be tried: the order is found again whenever a node changes its pools. */
const triedFrom = 24;

/** An order of blocks that are sorted by name: from a start, always the neighbour that shares most pools with the last one. */
function arrange<S extends Spot>(sorted: readonly Block<S>[], start: number): Block<S>[] {
  const left = [...sorted];
  const blocks = left.splice(start, 1);
  while (left.length > 0) {
    const last = blocks.at(-1);
    let next = -1;
    let most = 0;
    left.forEach((block, index) => {
      const common = last ? shared(block.pools, last.pools) : 0;
      if (common > most || (common === most && common > 0 && next >= 0 && block.pools.length < (left[next]?.pools.length ?? 0))) {
        most = common;
        next = index;
      }
    });
    // A line that has begun goes on before another one begins.
    if (next < 0) next = left.findIndex((block) => blocks.some((placed) => shared(block.pools, placed.pools) > 0));
    if (next < 0) next = chainEnd(left);
    blocks.push(...left.splice(next, 1));
  }
  return blocks;
}

/** In how many pieces the lines of all pools are. */
function pieces<S extends Spot>(blocks: readonly Block<S>[]): number {
  return blocks.reduce((sum, block, index) => sum + block.pools.filter((pool) => !blocks[index - 1]?.pools.includes(pool)).length, 0);
}

/** The order with the fewest pieces: from the end of the longest chain, or from another block if that is better. */
function best<S extends Spot>(sorted: readonly Block<S>[]): Block<S>[] {
  if (sorted.length === 0) return [];
  let found = arrange(sorted, chainEnd(sorted));
  const least = new Set(sorted.flatMap((block) => block.pools)).size;
  for (let start = 0; start < sorted.length && sorted.length <= triedFrom && pieces(found) > least; start++) {
    const other = arrange(sorted, start);
    if (pieces(other) < pieces(found)) found = other;
  }
  return found;
}

/**
 * Puts nodes with the same pools into blocks, and blocks into an order in which the line of each pool is in one piece where that is
 * possible. The order depends on the sets of pools alone, so that health moves nothing. Nodes of no pool come last.
 */
export function layout<S extends Spot>(spots: readonly S[]): Layout<S> {
  const groups = new Map<string, { pools: string[]; spots: S[] }>();
  for (const spot of spots) {
    const pools = [...spot.pools].sort(byName);
    const key = pools.join("\n");
    const group = groups.get(key);
    if (group) group.spots.push(spot);
    else groups.set(key, { pools, spots: [spot] });
  }
  for (const group of groups.values()) group.spots.sort((a, b) => byName(a.zone, b.zone) || byName(a.name, b.name));
  const none = groups.get("");
  groups.delete("");
  const blocks = best<S>([...groups.entries()].sort((a, b) => byName(a[0], b[0])).map((entry) => entry[1]));
  const pools: string[] = [];
  for (const block of blocks) {
    for (const pool of [...block.pools].sort((a, b) => begins(blocks, a) - begins(blocks, b) || ends(blocks, a) - ends(blocks, b) || byName(a, b))) {
      if (!pools.includes(pool)) pools.push(pool);
    }
  }
  if (none) blocks.push(none);
  return { pools, blocks };
}

function begins<S extends Spot>(blocks: readonly Block<S>[], pool: string): number {
  return blocks.findIndex((block) => block.pools.includes(pool));
}

function ends<S extends Spot>(blocks: readonly Block<S>[], pool: string): number {
  return blocks.findLastIndex((block) => block.pools.includes(pool));
}

/** What all names begin with, up to a separator; cells leave it out. */
export function common(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length--;
  const prefix = rest.length === 0 ? first : first.slice(0, length);
  const cut = Math.max(prefix.lastIndexOf("-"), prefix.lastIndexOf("."));
  return cut < 0 ? "" : prefix.slice(0, cut + 1);
}
