import { common, type Layout } from "./layout";
import type { MapNode } from "./model";

export type Size = "large" | "medium" | "small";

export interface Cell {
  node: MapNode;
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
  width: number;
  label: string;
  count: number;
}

export interface Geometry {
  size: Size;
  width: number;
  height: number;
  cells: readonly Cell[];
  bands: readonly Band[];
}

const shapes = {
  large: { height: 44, gap: 3, rows: 1, between: 12 },
  medium: { height: 14, gap: 2, rows: 8, between: 10 },
  small: { height: 5, gap: 1, rows: 34, between: 8 },
} as const;

export function sizeOf(count: number): Size {
  return count <= 64 ? "large" : count <= 800 ? "medium" : "small";
}

/** Where every cell is, for a width that the map may have. */
export function geometry(layout: Layout<MapNode>, room: number): Geometry {
  const count = layout.blocks.reduce((sum, block) => sum + block.spots.length, 0);
  const size = sizeOf(count);
  const shape = shapes[size];
  const between = shape.between * Math.max(0, layout.blocks.length - 1);
  const wide = size === "large" ? Math.max(24, Math.min(44, Math.floor((room - between) / Math.max(1, count)) - shape.gap)) : shape.height;
  const cells: Cell[] = [];
  const bands: Band[] = [];
  let x = 0.5;
  for (const block of layout.blocks) {
    const prefix = common(block.spots.map((spot) => spot.name));
    const from = x;
    block.spots.forEach((node, index) => {
      const column = Math.floor(index / shape.rows);
      const row = index % shape.rows;
      cells.push({
        node, x: from + column * (wide + shape.gap), y: row * (shape.height + shape.gap), width: wide, height: shape.height, label: node.name.slice(prefix.length) || node.name,
      });
    });
    const columns = Math.ceil(block.spots.length / shape.rows);
    const width = columns * (wide + shape.gap) - shape.gap;
    bands.push({ pools: block.pools, x: from, width, label: prefix.replace(/[-.]$/, ""), count: block.spots.length });
    x = from + width + shape.between;
  }
  const rows = Math.min(shape.rows, Math.max(0, ...layout.blocks.map((block) => block.spots.length)));
  return { size, width: Math.max(0, x - shape.between) + 1, height: rows * (shape.height + shape.gap), cells, bands };
}
