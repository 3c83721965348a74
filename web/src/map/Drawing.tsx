import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useSay } from "../i18n";
import { whenThemeChanges } from "../design/colours";
import { colours, paint } from "./canvas";
import { LargeCell, MediumCells } from "./cells";
import { type Cell, cellAt, geometry, type Geometry, stepFrom } from "./geometry";
import { type NodeMapModel } from "./model";
import { CellPopover } from "./Popover";
import type { Line } from "./rows";
import { stretches } from "./stretches";

/** How far lines are from each other: with numbers beside them, without, and where cells are small. */
const apart = { numbers: 40, bare: 26, small: 22 } as const;
/** Between the names of lines, and between lines, where the map is turned. */
const stair = 16;
const beside = 18;
const phone = window.matchMedia("(max-width: 639px)");

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

/** Whether the window is as narrow as a phone. */
function useNarrow(): boolean {
  return useSyncExternalStore((call) => { phone.addEventListener("change", call); return () => phone.removeEventListener("change", call); }, () => phone.matches);
}

function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new ResizeObserver((entries) => { const box = entries[0]?.contentRect; if (box) setWidth(Math.floor(box.width)); });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

function Small({ drawn }: { drawn: Geometry }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [theme, setTheme] = useState(0);
  useEffect(() => whenThemeChanges(() => setTheme((before) => before + 1)), []);
  const of = useMemo(() => { void theme; return colours(); }, [theme]);
  useEffect(() => { if (canvas.current) paint(canvas.current, drawn.width, drawn.height, drawn.cells, of); }, [drawn, of]);
  return <canvas ref={canvas} style={{ width: drawn.width, height: drawn.height }} aria-hidden="true" />;
}

interface Props { shown: NodeMapModel; bare: boolean; lines: readonly Line[]; label: string; opened: string | undefined; onOpen: (name: string) => void }

/** The map is one tab stop: arrows move, Enter opens the node, Escape leaves the cell. What a cell is stands beside it, never over it. */
export function Drawing({ shown, bare, lines, label, opened, onOpen }: Props) {
  const say = useSay();
  const [ref, width] = useWidth();
  const stop = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const turned = useNarrow();
  const between = Math.min(beside, 120 / Math.max(1, lines.length));
  const drawn = useMemo(() => geometry(shown.layout, width, turned, turned ? lines.length * between + 4 : 0), [shown.layout, width, turned, lines.length, between]);
  const cell: Cell | undefined = drawn.cells[at];
  const step = drawn.size === "small" ? apart.small : bare ? apart.bare : apart.numbers;
  const top = drawn.turned ? lines.length * stair : lines.length * step + 8;
  const height = top + drawn.height + (drawn.turned ? 0 : 18);
  const press = (event: KeyboardEvent) => {
    if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") setAt(stepFrom(drawn, at, event.key));
    else if (event.key === "Enter" && cell) onOpen(cell.node.name);
    else if (event.key === "Escape" && at >= 0) setAt(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const place = (event: PointerEvent | React.MouseEvent) => {
    const box = stop.current?.getBoundingClientRect();
    return box ? cellAt(drawn, event.clientX - box.left, event.clientY - box.top - top) : -1;
  };
  const box = () => {
    const around = stop.current?.getBoundingClientRect();
    return around && cell ? new DOMRect(around.left + cell.x, around.top + top + cell.y, cell.width, cell.height) : undefined;
  };
  const seen = box();
  const spoken = cell ? `${cell.node.name}, ${cell.node.notReady ? say("map.notReady") : say("status.ready")}, ${cell.node.pools.join(", ")}` : label;
  const caption = (band: Geometry["bands"][number]) => `${band.pools.length === 0 ? say("map.noPool") : band.pools.join(" + ")}, ${band.count}`;
  return (
    <div ref={ref} className="mapbox">
      <div
        ref={stop} role="application" tabIndex={0} aria-label={spoken} className="mapstop" onKeyDown={press} onBlur={() => setAt(-1)}
        onPointerMove={(event) => setAt(place(event))} onPointerLeave={() => setAt(-1)} onClick={(event) => { const one = drawn.cells[place(event)]; if (one) onOpen(one.node.name); }}
      >
        <svg className="map" width={Math.max(drawn.width, 1)} height={height} aria-hidden="true">
          <defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0v5" stroke="var(--ink-2)" strokeWidth="1.4" /></pattern></defs>
          {drawn.bands.filter((band) => band.pools.length > 1).map((band) => (drawn.turned
            ? <rect key={band.first} x="0" y={top + band.y - 22} width={drawn.width} height={band.height + 24} fill="var(--band)" />
            : <rect key={band.first} x={band.x - 3} y="0" width={band.width + 6} height={top + drawn.height} fill="var(--band)" />))}
          {drawn.turned ? <TurnedLines drawn={drawn} lines={lines} top={top} step={between} /> : lines.map((line, index) => <LineOf key={line.key} drawn={drawn} line={line} y={index * step + step / 2} />)}
          <g transform={`translate(0 ${top})`}>
            {drawn.size === "large" && drawn.cells.map((each) => <LargeCell key={each.node.name} cell={each} chosen={each === cell || each.node.name === opened} />)}
            {drawn.size === "medium" && <MediumCells cells={drawn.cells} />}
            {drawn.size !== "large" && drawn.cells.filter((each) => each === cell || (opened !== undefined && each.nodes.some((node) => node.name === opened))).map((each) => <rect key={each.node.name} x={each.x - 1.5} y={each.y - 1.5} width={each.width + 3} height={each.height + 3} fill="none" stroke="var(--accent)" strokeWidth="2" />)}
          </g>
          {drawn.turned
            ? drawn.bands.map((band) => <text key={band.first} className="t2" x={band.x} y={top + band.y - 8}>{caption(band)}</text>)
            : drawn.bands.map((band) => { const text = drawn.size === "large" ? band.label : String(band.count); return <text key={band.first} className="t3" x={band.x} y={top + drawn.height + 12}>{text.length * 6 <= band.width + 8 ? text : ""}</text>; })}
        </svg>
        {drawn.size === "small" && <div className="mapcanvas" style={{ top }}><Small drawn={drawn} /></div>}
      </div>
      {cell && seen && <CellPopover cell={cell} box={seen} measured={shown.measured} />}
    </div>
  );
}
