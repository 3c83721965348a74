import { memo } from "react";
import type { Cell } from "./geometry";

const octagon = "M4.3.8h5.4l3.5 3.5v5.4l-3.5 3.5H4.3L.8 9.7V4.3z";

/** One node with its gauge, its name and the marks of what is special about it. */
export const LargeCell = memo(function LargeCell({ cell, chosen }: { cell: Cell; chosen: boolean }) {
  const { node, x, y, width, height } = cell;
  const strip = height - 15;
  const filled = node.level === undefined ? 0 : Math.max(1, Math.round(strip * node.level));
  const label = cell.label.length * 6 > width - 4 ? cell.label.slice(-Math.floor((width - 4) / 6)) : cell.label;
  const frame = node.notReady ? "var(--bad)" : chosen ? "var(--accent)" : "var(--edge)";
  const leaving = Object.values(node.ties).some((tie) => tie === "leaves");
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={width} height={height - 1} rx="2" fill={node.notReady ? "var(--bad-bg)" : "var(--bg)"} />
      {!node.notReady && filled > 0 && <><rect x=".5" y={strip - filled} width={width - 1} height={filled} fill="var(--level)" /><path d={`M.5 ${strip - filled + 0.5}h${width - 1}`} stroke="var(--edge)" /></>}
      {node.cordoned && <rect x=".5" y=".5" width={width - 1} height={strip} fill="url(#hatch)" opacity=".6" />}
      <path d={`M.5 ${strip + 0.5}h${width - 1}`} stroke={frame} strokeOpacity=".5" />
      <rect width={width} height={height - 1} rx="2" fill="none" stroke={frame} strokeWidth={node.notReady || chosen ? 1.5 : 1} strokeDasharray={leaving || node.unknown ? "3 2" : undefined} />
      {node.taint !== "" && <path d={`M${width - 7.5} .3h7.2v7.2z`} fill={node.taint === "hard" ? "var(--ink-2)" : "var(--bg)"} stroke="var(--ink-2)" />}
      {node.notReady && <g transform={`translate(${width / 2 - 7} ${strip / 2 - 7})`} color="var(--bad)"><path d={octagon} fill="currentColor" /><path d="M7 3.6v4.2M7 9.9v.6" fill="none" stroke="var(--bg)" strokeWidth="1.6" strokeLinecap="round" /></g>}
      {node.pressure && !node.notReady && <g transform="translate(2 4) scale(.86)" color="var(--warn)"><path d="M7 1.6 12.9 12H1.1z" fill="var(--bg)" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" /><path d="M7 5.4v3M7 10v.2" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" /></g>}
      <text x={width / 2} y={height - 5} textAnchor="middle">{label}</text>
    </g>
  );
});

function path(cells: readonly Cell[]): string {
  return cells.map((cell) => `M${cell.x} ${cell.y}h${cell.width}v${cell.height}h-${cell.width}z`).join("");
}

function isLeaving(cell: Cell): boolean {
  return Object.values(cell.node.ties).includes("leaves");
}

/** Some hundred nodes as a few shapes, one for each state: each has its gauge, and no name. */
export const MediumCells = memo(function MediumCells({ cells }: { cells: readonly Cell[] }) {
  const bad = cells.filter((cell) => cell.node.notReady);
  const well = cells.filter((cell) => !cell.node.notReady);
  const gauge = well.filter((cell) => (cell.node.level ?? 0) > 0).map((cell) => {
    const tall = Math.max(1, Math.round((cell.height - 1) * (cell.node.level ?? 0)));
    return { ...cell, x: cell.x + 0.5, y: cell.y + cell.height - tall - 0.5, width: cell.width - 1, height: tall };
  });
  const frames = well.filter((cell) => !cell.node.unknown && !isLeaving(cell));
  return (
    <>
      <path d={path(well)} fill="var(--bg)" />
      <path d={path(gauge)} fill="var(--level)" />
      <path d={gauge.map((cell) => `M${cell.x} ${cell.y}h${cell.width}`).join("")} stroke="var(--edge)" />
      <path d={path(well.filter((cell) => cell.node.cordoned))} fill="url(#hatch)" />
      <path d={path(frames)} fill="none" stroke="var(--edge)" />
      <path d={path(well.filter((cell) => !frames.includes(cell)))} fill="none" stroke="var(--edge)" strokeDasharray="3 2" />
      <path d={well.filter((cell) => cell.node.pressure).map((cell) => `M${cell.x + 7} ${cell.y + 1.5}l6 11h-12z`).join("")} fill="var(--bg)" stroke="var(--warn)" strokeWidth="1.5" strokeLinejoin="round" />
      <path d={path(bad)} fill="var(--bad)" stroke="var(--bad)" />
      <path d={bad.map((cell) => `M${cell.x + 7} ${cell.y + 3}v5M${cell.x + 7} ${cell.y + 10.4}v.6`).join("")} stroke="var(--bg)" strokeWidth="1.6" strokeLinecap="round" />
    </>
  );
});
