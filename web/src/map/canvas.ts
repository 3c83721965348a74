import { coloursOf } from "../design/colours";
import type { Cell } from "./geometry";

const tokens = ["bg", "ink", "bad", "warn", "edge", "level", "member"] as const;
export type Colours = Record<(typeof tokens)[number], string>;

export function colours(): Colours {
  return coloursOf(...tokens);
}

/** How full a cell is, in three greys. */
export function grey(level: number | undefined): "low" | "half" | "full" {
  return level === undefined || level < 0.5 ? "low" : level < 0.9 ? "half" : "full";
}

/** Small cells on a canvas: thousands of elements would be slow. What is wrong is drawn last, and larger. */
export function paint(canvas: HTMLCanvasElement, width: number, height: number, cells: readonly Cell[], of: Colours): void {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const to = canvas.getContext("2d");
  if (!to) return;
  to.setTransform(scale, 0, 0, scale, 0, 0);
  to.clearRect(0, 0, width, height);
  const fills = { low: of.level, half: of.edge, full: of.ink } as const;
  for (const name of ["low", "half", "full"] as const) {
    to.fillStyle = fills[name];
    for (const { node, x, y, width: side } of cells) {
      if (!node.notReady && !node.cordoned && grey(node.level) === name) to.fillRect(Math.floor(x), y, side - 1, side - 1);
    }
  }
  for (const { node, x, y, width: side } of cells) {
    if (node.notReady || !(node.cordoned || Object.values(node.ties).includes("leaves"))) continue;
    to.clearRect(Math.floor(x), y, side, side);
    to.strokeStyle = node.cordoned ? of.ink : of.edge;
    to.strokeRect(Math.floor(x) + 0.5, y + 0.5, side - 2, side - 2);
  }
  to.fillStyle = of.warn;
  for (const { node, x, y, width: side } of cells) {
    if (!node.pressure || node.notReady) continue;
    to.clearRect(Math.floor(x), y, side, side);
    to.beginPath();
    to.moveTo(x + side / 2 - 0.5, y - 0.5);
    to.lineTo(x + side, y + side);
    to.lineTo(x - 1, y + side);
    to.fill();
  }
  to.fillStyle = of.bad;
  for (const { node, x, y, width: side } of cells) if (node.notReady) to.fillRect(Math.floor(x) - 0.5, y - 0.5, side + 1, side + 1);
}
