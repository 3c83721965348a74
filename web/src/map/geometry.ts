import { common, type Layout } from "./layout";
import type { MapNode } from "./model";

export type Size = "large" | "medium" | "small";

export interface Cell {
  /** The node, or the worst of those that the cell stands for. */
  node: MapNode;
  nodes: readonly MapNode[];
  x: number;
  y: number;
  width: number;
  height: number;
  /** The name less what the block has in common. */
  label: string;
}

export interface Band {
  pools: readonly string[];
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
  count: number;
  /** Where its cells are in the list, and how many are in a line of it. */
  first: number;
  cells: number;
  rows: number;
}

export interface Geometry {
  size: Size;
  /** Turned by 90°, for where it is narrow: blocks below each other, cells from left to right. */
  turned: boolean;
  width: number;
  height: number;
  cells: readonly Cell[];
  bands: readonly Band[];
  /** How many nodes a cell stands for. */
  each: number;
}

export const shapes = {
  large: { height: 44, gap: 3, rows: 1, between: 12 },
  medium: { height: 14, gap: 2, rows: 8, between: 10 },
  small: { height: 5, gap: 1, rows: 34, between: 8 },
} as const;
/** Above so many nodes a cell stands for several. */
const most = 8000;
/** Room for the words above a block that is turned. */
const caption = 24;

export function sizeOf(count: number): Size {
  return count <= 64 ? "large" : count <= 800 ? "medium" : "small";
}

/** How many nodes a cell stands for. */
export function cellsFor(count: number): number {
  return Math.max(1, Math.ceil(count / most));
}

function badness(node: MapNode): number {
  return (node.notReady ? 8 : 0) + (node.unknown ? 4 : 0) + (node.cordoned ? 2 : 0) + (node.pressure ? 1 : 0);
}

/** The node for which a cell is drawn: the worst, and of equals the fullest. */
export function worstOf(nodes: readonly MapNode[]): MapNode | undefined {
  let worst = nodes[0];
  for (const node of nodes) if (worst && (badness(node) > badness(worst) || (badness(node) === badness(worst) && (node.level ?? 0) > (worst.level ?? 0)))) worst = node;
  return worst;
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}

/** How many cells a column has, so that all columns fit into the room. */
function rowsFor(counts: readonly number[], shape: (typeof shapes)[Size], room: number): number {
  if (shape.rows === 1) return 1;
  const between = shape.between * Math.max(0, counts.length - 1);
  let rows: number = shape.rows;
  const columns = () => counts.reduce((sum, count) => sum + Math.ceil(count / rows), 0);
  while (rows < 200 && columns() * (shape.height + shape.gap) + between > Math.max(room, 240)) rows++;
  return rows;
}

/** Where every cell is, for a width that the map may have; turned, its cells begin beside the lines of the pools. */
export function geometry(layout: Layout<MapNode>, room: number, turned = false, left = 0): Geometry {
  const count = layout.blocks.reduce((sum, block) => sum + block.spots.length, 0);
  const size = sizeOf(count);
  const each = cellsFor(count);
  const shape = shapes[size];
  const counts = layout.blocks.map((block) => Math.ceil(block.spots.length / each));
  const between = shape.between * Math.max(0, counts.length - 1);
  const wide = size !== "large" ? shape.height : turned ? 34 : Math.max(20, Math.min(48, Math.floor((room - between) / Math.max(1, count)) - shape.gap));
  const across = Math.max(1, Math.floor((room - left + shape.gap) / (wide + shape.gap)));
  const rows = turned ? across : rowsFor(counts, shape, room);
  const cells: Cell[] = [];
  const bands: Band[] = [];
  let x = left + 0.5;
  let y = 0;
  let height = 0;
  layout.blocks.forEach((block) => {
    const prefix = common(block.spots.map((spot) => spot.name));
    const groups = each === 1 ? block.spots.map((spot) => [spot]) : chunks(block.spots, each);
    const first = cells.length;
    const top = turned ? y + caption : 0;
    groups.forEach((nodes, index) => {
      const node = worstOf(nodes);
      const line = Math.floor(index / rows);
      const place = index % rows;
      if (node) {
        cells.push({
          node, nodes, width: wide, height: shape.height, label: node.name.slice(prefix.length) || node.name,
          x: x + (turned ? place : line) * (wide + shape.gap), y: top + (turned ? line : place) * (shape.height + shape.gap),
        });
      }
    });
    const lines = Math.ceil(groups.length / rows);
    const width = (turned ? Math.min(rows, groups.length) : lines) * (wide + shape.gap) - shape.gap;
    const tall = (turned ? lines : Math.min(rows, groups.length)) * (shape.height + shape.gap);
    bands.push({ pools: block.pools, x, y: top, width, height: tall, label: prefix.replace(/[-.]$/, ""), count: block.spots.length, first, cells: groups.length, rows });
    height = Math.max(height, top + tall);
    if (turned) y = top + tall + shape.between / 2;
    else x += width + shape.between;
  });
  return { size, turned, each, width: turned ? room : Math.max(0, x - shape.between) + 1, height, cells, bands };
}

/** The cell at a place, or -1. */
export function cellAt(drawn: Geometry, x: number, y: number): number {
  const shape = shapes[drawn.size];
  for (const band of drawn.bands) {
    if (x < band.x - 1 || x > band.x + band.width + 1 || y < band.y || y >= band.y + band.height) continue;
    const wide = (drawn.cells[band.first]?.width ?? shape.height) + shape.gap;
    const column = Math.max(0, Math.floor((x - band.x) / wide));
    const row = Math.floor((y - band.y) / (shape.height + shape.gap));
    const index = drawn.turned ? row * band.rows + column : column * band.rows + row;
    return index < band.cells && (drawn.turned ? column : row) < band.rows ? band.first + index : -1;
  }
  return -1;
}

/** The cell that an arrow leads to: the nearest one in that direction, also over the gap between blocks. */
export function stepFrom(drawn: Geometry, at: number, key: string): number {
  const { cells } = drawn;
  if (key === "Home") return 0;
  if (key === "End") return cells.length - 1;
  const from = cells[at];
  if (!from) return cells.length > 0 ? 0 : -1;
  const dx = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const dy = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  let best = at;
  let least = Infinity;
  cells.forEach((cell, index) => {
    const along = (cell.x - from.x) * dx + (cell.y - from.y) * dy;
    if (along <= 0) return;
    const aside = Math.abs((cell.x - from.x) * dy) + Math.abs((cell.y - from.y) * dx);
    const far = along + 4 * aside;
    if (far < least) { least = far; best = index; }
  });
  return best;
}
