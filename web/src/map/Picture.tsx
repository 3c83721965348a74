import { memo, useMemo } from "react";
import { useSay } from "../i18n";
import { LargeCell, MediumCells } from "./cells";
import type { Geometry } from "./geometry";
import type { Line } from "./rows";
import { stretches } from "./stretches";

/** How high a name of a line is, where the map is turned. */
export const stair = 16;

function LineOf({ drawn, line, y }: { drawn: Geometry; line: Line; y: number }) {
  const parts = useMemo(() => stretches(drawn, line.names), [drawn, line.names]);
  const long = drawn.turned ? drawn.height : drawn.width;
  return (
    <>
      <path d={`M0 ${y}H${long}`} stroke="var(--line)" />
      {parts.map((part) => {
        if (part.tie === "leaves") return <path key={part.x} d={`M${part.x} ${y}h${part.width}`} stroke="var(--member)" strokeWidth="2" strokeDasharray="4 3" />;
        if (part.tie === "waits") return <rect key={part.x} x={part.x + 0.75} y={y - 3} width={Math.max(1, part.width - 1.5)} height="6" fill="var(--bg)" stroke="var(--member)" strokeWidth="1.5" />;
        return <rect key={part.x} x={part.x} y={y - 4} width={part.width} height="8" shapeRendering="crispEdges" fill={part.tie === "turn" ? "var(--accent)" : "var(--member)"} />;
      })}
      {parts.flatMap((part) => part.lost).map((at) => (
        <g key={`lost${at}`} transform={`translate(${at} ${y - 1}) rotate(${drawn.turned ? -90 : 0}) translate(-7 -7)`}><path d="M7 1.6 12.9 12H1.1z" fill="var(--bg)" stroke="var(--warn)" strokeWidth="1.5" strokeLinejoin="round" /><path d="M7 5.4v3M7 10v.2" stroke="var(--warn)" strokeWidth="1.5" strokeLinecap="round" /></g>
      ))}
    </>
  );
}

/** The lines of a map that is turned: from top to bottom beside the cells, their names above them as a staircase. */
function TurnedLines({ drawn, lines, top, step }: { drawn: Geometry; lines: readonly Line[]; top: number; step: number }) {
  const say = useSay();
  return lines.map((line, index) => (
    <g key={line.key}>
      <text x={index * step + 2} y={index * stair + 12} fontWeight="600">{line.row?.name ?? say("map.others", { count: line.others })}</text>
      <path d={`M${index * step + 8.5} ${index * stair + stair}V${top}`} stroke="var(--line)" />
      <g transform={`translate(${index * step + 8.5} ${top}) matrix(0 1 1 0 0 0)`}><LineOf drawn={drawn} line={line} y={0} /></g>
    </g>
  ));
}

/** Lines, bands and cells, but for those on a canvas. They are the same wherever the pointer is, unless cells are large: then one of them is chosen. */
export const Picture = memo(function Picture({ drawn, lines, top, step, height, chosen, opened }: {
  drawn: Geometry; lines: readonly Line[]; top: number; step: number; height: number; chosen: number; opened: string | undefined;
}) {
  const say = useSay();
  const caption = (band: Geometry["bands"][number]) => `${band.pools.length === 0 ? say("map.noPool") : band.pools.join(" + ")}, ${band.count}`;
  return (
    <svg className="map" width={Math.max(drawn.width, 1)} height={height} aria-hidden="true">
      <defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0v5" stroke="var(--ink-2)" strokeWidth="1.4" /></pattern></defs>
      {drawn.bands.filter((band) => band.pools.length > 1).map((band) => (drawn.turned
        ? <rect key={band.first} x="0" y={top + band.y - 22} width={drawn.width} height={band.height + 24} fill="var(--band)" />
        : <rect key={band.first} x={band.x - 3} y="0" width={band.width + 6} height={top + drawn.height} fill="var(--band)" />))}
      {drawn.turned ? <TurnedLines drawn={drawn} lines={lines} top={top} step={step} /> : lines.map((line, index) => <LineOf key={line.key} drawn={drawn} line={line} y={index * step + step / 2} />)}
      <g transform={`translate(0 ${top})`}>
        {drawn.size === "large" && drawn.cells.map((each, at) => <LargeCell key={each.node.name} cell={each} chosen={at === chosen || each.node.name === opened} />)}
        {drawn.size === "medium" && <MediumCells cells={drawn.cells} />}
      </g>
      {drawn.turned
        ? drawn.bands.map((band) => <text key={band.first} className="t2" x={band.x} y={top + band.y - 8}>{caption(band)}</text>)
        : drawn.bands.map((band) => { const text = drawn.size === "large" ? band.label : String(band.count); return <text key={band.first} className="t3" x={band.x} y={top + drawn.height + 12}>{text.length * 6 <= band.width + 8 ? text : ""}</text>; })}
    </svg>
  );
});
