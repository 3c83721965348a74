import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { whenThemeChanges } from "../design/colours";
import { useSay } from "../i18n";
import { useCalm } from "../live/useCalm";
import { colours, paint } from "./canvas";
import { type Cell, cellAt, geometry, type Geometry, stepFrom } from "./geometry";
import { type NodeMapModel } from "./model";
import { Picture, stair } from "./Picture";
import { CellPopover } from "./Popover";
import type { Line } from "./rows";

/** How far lines are from each other: with numbers beside them, without, and where cells are small. */
const apart = { numbers: 40, bare: 26, small: 22 } as const;
/** Between lines, where the map is turned. */
const beside = 18;
/** How often the popover goes to another cell at most, in milliseconds. */
const rush = 100;
const phone = window.matchMedia("(max-width: 639px)");

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

/** Frames around the cell under the pointer and the one that is open, in a layer of their own: what they are around is not drawn anew. */
function Frames({ drawn, cell, opened, top }: { drawn: Geometry; cell: Cell | undefined; opened: string | undefined; top: number }) {
  const open = useMemo(() => (opened === undefined ? undefined : drawn.cells.find((each) => each.nodes.some((node) => node.name === opened))), [drawn, opened]);
  return (
    <svg className="mapframes" width={Math.max(drawn.width, 1)} height={top + drawn.height + 3} aria-hidden="true">
      {[...new Set([cell, open])].map((each) => each && <rect key={each.node.name} x={each.x - 1.5} y={top + each.y - 1.5} width={each.width + 3} height={each.height + 3} fill="none" stroke="var(--accent)" strokeWidth="2" />)}
    </svg>
  );
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
  const box = useCallback(({ x, y, width: wide, height: tall }: Cell) => {
    const around = stop.current?.getBoundingClientRect();
    return around && new DOMRect(around.left + x, around.top + top + y, wide, tall);
  }, [top]);
  // Nobody reads what is said of a cell that the pointer rushes over.
  const calm = useCalm(cell, rush);
  const spoken = cell ? `${cell.node.name}, ${cell.node.notReady ? say("map.notReady") : say("status.ready")}, ${cell.node.pools.join(", ")}` : label;
  return (
    <div ref={ref} className="mapbox">
      <div
        ref={stop} role="application" tabIndex={0} aria-label={spoken} className="mapstop" onKeyDown={press} onBlur={() => setAt(-1)}
        onPointerMove={(event) => setAt(place(event))} onPointerLeave={() => setAt(-1)} onClick={(event) => { const one = drawn.cells[place(event)]; if (one) onOpen(one.node.name); }}
      >
        <Picture drawn={drawn} lines={lines} top={top} step={drawn.turned ? between : step} height={height} chosen={drawn.size === "large" ? at : -1} opened={opened} />
        {drawn.size !== "large" && <Frames drawn={drawn} cell={cell} opened={opened} top={top} />}
        {drawn.size === "small" && <div className="mapcanvas" style={{ top }}><Small drawn={drawn} /></div>}
      </div>
      {cell && calm && <CellPopover cell={calm} boxOf={box} measured={shown.measured} />}
    </div>
  );
}
