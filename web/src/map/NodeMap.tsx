import { Link, useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useSay } from "../i18n";
import { cores, gibi } from "../status/quantity";
import { Shape } from "../status/shapes";
import { statusOf } from "../status/status";
import { LargeCell, ManyCells } from "./cells";
import { type Cell, geometry, type Geometry } from "./geometry";
import { Legend } from "./Legend";
import type { NodeMapModel, PoolRow, Tie } from "./model";

/** How many pools have a line of their own. */
const lines = 9;
const lineHeight = 40;

interface Stretch { x: number; width: number; tie: Tie }

/** The line of a pool: one stretch per cell where cells are large, else one per block. */
export function stretches(drawn: Geometry, pool: string): Stretch[] {
  if (drawn.size === "large") {
    const out: Stretch[] = [];
    for (const cell of drawn.cells) {
      const tie = cell.node.ties[pool];
      if (tie) out.push({ x: cell.x, width: cell.width, tie });
    }
    return out;
  }
  return drawn.bands.filter((band) => band.pools.includes(pool)).map((band) => ({ x: band.x, width: band.width, tie: "has" }));
}

function Line({ drawn, pool, y }: { drawn: Geometry; pool: string; y: number }) {
  const parts = stretches(drawn, pool);
  return (
    <>
      <path d={`M0 ${y}H${drawn.width}`} stroke="var(--line)" />
      {parts.map((part, index) => {
        const next = parts[index + 1];
        // Neighbours with the same tie are one line; a gap between blocks stays one.
        const joined = next && next.tie === part.tie && next.x - part.x - part.width < 4 ? next.x - part.x : part.width;
        if (part.tie === "leaves") return <path key={part.x} d={`M${part.x} ${y}h${joined}`} stroke="var(--member)" strokeWidth="2" strokeDasharray="4 3" />;
        if (part.tie === "waits") return <rect key={part.x} x={part.x + 0.75} y={y - 3} width={part.width - 1.5} height="6" fill="var(--bg)" stroke="var(--member)" strokeWidth="1.5" />;
        return <rect key={part.x} x={part.x} y={y - 4} width={joined} height="8" shapeRendering="crispEdges" fill={part.tie === "turn" ? "var(--accent)" : "var(--member)"} />;
      })}
    </>
  );
}

function Meter({ used, all, text }: { used: number; all: number; text: [string, string] }) {
  const share = all > 0 ? Math.min(100, (100 * used) / all) : 0;
  return (
    <span className="pmb" title={`${Math.round(share)} %`}>
      <span className="small nowrap">{text[0]} <span className="dim">/ {text[1]}</span></span>
      <span className="bar"><i style={{ width: `${share}%` }} /></span>
    </span>
  );
}

function Numbers({ row, measured }: { row: PoolRow; measured: boolean }) {
  const say = useSay();
  const giga = (bytes: number) => gibi(bytes).replace(" Gi", "");
  return (
    <div className="pm">
      <span className={row.ready < row.total ? "num bad strong" : "num"}>{row.ready} / {row.total}</span>
      {measured
        ? <><Meter used={row.cpu.requested} all={row.cpu.allocatable} text={[cores(row.cpu.requested), cores(row.cpu.allocatable)]} />
          <Meter used={row.memory.requested} all={row.memory.allocatable} text={[giga(row.memory.requested), giga(row.memory.allocatable)]} />
          <span className="num free">{row.free ? say("map.freeOn", { cpu: cores(row.free.cpu), memory: gibi(row.free.memory) }) : "<none>"}</span></>
        : <><span className="small">{cores(row.cpu.allocatable)}</span><span className="small">{gibi(row.memory.allocatable)}</span><span className="num free">?</span></>}
    </div>
  );
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

/** The map is one tab stop: arrows move, Enter opens the node. */
function Drawing({ shown, rows, label, onOpen }: { shown: NodeMapModel; rows: readonly PoolRow[]; label: string; onOpen: (name: string) => void }) {
  const [ref, width] = useWidth();
  const [at, setAt] = useState(-1);
  const drawn = useMemo(() => geometry(shown.layout, width), [shown.layout, width]);
  const cell: Cell | undefined = drawn.cells[at];
  const top = rows.length * lineHeight + 8;
  const height = top + drawn.height + 18;
  const press = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 8, ArrowUp: -8, Home: -1e9, End: 1e9 }[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(drawn.cells.length - 1, at + step)));
    else if (event.key === "Enter" && cell) onOpen(cell.node.name);
    else return;
    event.preventDefault();
  };
  return (
    <div ref={ref} className="mapbox">
      <div role="application" tabIndex={0} aria-label={cell ? cell.node.name : label} onKeyDown={press} onBlur={() => setAt(-1)} className="mapstop">
        <svg className="map" width={Math.max(drawn.width, 1)} height={height} aria-hidden="true">
          <defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0v5" stroke="var(--ink-2)" strokeWidth="1.4" /></pattern></defs>
          {drawn.bands.filter((band) => band.pools.length > 1).map((band) => <rect key={band.x} x={band.x - 3} y="0" width={band.width + 6} height={top + drawn.height} fill="var(--band)" />)}
          {rows.map((row, index) => <Line key={row.name} drawn={drawn} pool={row.name} y={index * lineHeight + lineHeight / 2} />)}
          <g transform={`translate(0 ${top})`}>
            {drawn.size === "large" ? drawn.cells.map((each) => <LargeCell key={each.node.name} cell={each} chosen={each === cell} />) : <ManyCells cells={drawn.cells} />}
            {drawn.cells.map((each) => (
              <rect key={each.node.name} x={each.x} y={each.y} width={each.width} height={each.height} fill="transparent" className="hit" onClick={() => onOpen(each.node.name)}><title>{each.node.name}</title></rect>
            ))}
          </g>
          {drawn.bands.map((band) => <text key={band.x} className="t3" x={band.x} y={top + drawn.height + 12}>{band.label.length * 6 <= band.width + 8 ? band.label : ""}</text>)}
        </svg>
      </div>
    </div>
  );
}

export function NodeMap({ shown, numbers = true }: { shown: NodeMapModel; numbers?: boolean }) {
  const say = useSay();
  const navigate = useNavigate();
  const rows = shown.rows.slice(0, lines);
  const nodes = shown.layout.blocks.flatMap((block) => block.spots);
  const label = say("map.label", { nodes: nodes.length, notReady: nodes.filter((node) => node.notReady).length });
  const open = (name: string) => void navigate({ to: "/$kind", params: { kind: "nodes" }, search: (before) => ({ ...before, open: name }) });
  return (
    <>
      <div className={numbers ? "pgrid" : "pgrid bare"}>
        <div className="hd">{say("map.pool")}</div><div className="hd" />
        {numbers && <div className="pm hd"><span className="num">{say("map.ready")}</span><span>{say("map.cpu")}</span><span>{say("map.memory")}</span><span className="num free">{say("map.free")}</span></div>}
        <div>
          {rows.map((row) => (
            <div className="pl" key={row.name}>
              <Shape name={statusOf("nodepools", row.pool).name} />
              <Link to="/$kind/$name" params={{ kind: "nodepools", name: row.name }} className="name">{row.name}</Link>
            </div>
          ))}
          <div className="small dim cellnote">{say("map.cell")}</div>
        </div>
        <Drawing shown={shown} rows={rows} label={label} onOpen={open} />
        {numbers && <div>{rows.map((row) => <Numbers key={row.name} row={row} measured={shown.measured} />)}<div className="small dim mapnote">{say("map.note")}</div></div>}
      </div>
      <Legend nodes={nodes} measured={shown.measured} />
    </>
  );
}
