import type { ReactNode } from "react";
import { type Key as Text, useSay } from "../i18n";
import { Shape } from "../status/shapes";
import type { Size } from "./geometry";
import type { MapNode } from "./model";

function Key({ shape, children }: { shape: ReactNode; children: ReactNode }) {
  return <span>{shape}{children}</span>;
}

function Svg({ width = 18, height = 8, children }: { width?: number; height?: number; children: ReactNode }) {
  return <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">{children}</svg>;
}

/** What the map means: only what is there now. */
export function Legend({ nodes, measured, size }: { nodes: readonly MapNode[]; measured: boolean; size: Size }) {
  const say = useSay();
  // From medium on the numbers stand there too: cells are too small to be counted.
  const many = size !== "large";
  const counted = (key: Text, is: (node: MapNode) => boolean) => (many ? `${nodes.filter(is).length} ${say(key)}` : say(key));
  const ties = new Set(nodes.flatMap((node) => Object.values(node.ties)));
  const cell = <rect x=".5" y=".5" width="13" height="13" rx="2" fill="var(--bg)" stroke="var(--edge)" />;
  return (
    <footer className="maplegend">
      <div className="legend">
        {ties.has("has") && <Key shape={<Svg><rect width="18" height="8" fill="var(--member)" /></Svg>}>{say("map.has")}</Key>}
        {ties.has("waits") && <Key shape={<Svg><rect x=".75" y=".75" width="16.5" height="6.5" fill="none" stroke="var(--member)" strokeWidth="1.5" /></Svg>}>{say("map.waits")}</Key>}
        {ties.has("turn") && <Key shape={<Svg><rect width="18" height="8" fill="var(--accent)" /></Svg>}>{say("map.turn")}</Key>}
        {ties.has("leaves") && <Key shape={<Svg><path d="M0 4h18" stroke="var(--member)" strokeWidth="2" strokeDasharray="4 3" /></Svg>}>{say("map.leaves")}</Key>}
        {nodes.some((node) => node.pools.length > 1) && <Key shape={<Svg width={12} height={14}><rect width="12" height="14" rx="2" fill="var(--band)" stroke="var(--line)" /></Svg>}>{counted("map.several", (node) => node.pools.length > 1)}</Key>}
        {measured && size !== "small" && <Key shape={<Svg width={12} height={14}><rect x=".5" y=".5" width="11" height="13" rx="2" fill="var(--bg)" stroke="var(--edge)" /><rect x="1" y="6" width="10" height="7" fill="var(--level)" /><path d="M1 6.5h10" stroke="var(--edge)" /></Svg>}>{say("map.requested")}</Key>}
        {measured && size === "small" && <Key shape={<Svg width={20} height={6}><rect width="5" height="5" y="1" fill="var(--level)" /><rect x="7" y="1" width="5" height="5" fill="var(--edge)" /><rect x="14" y="1" width="5" height="5" fill="var(--ink)" /></Svg>}>{say("map.greys")}</Key>}
        {!many && nodes.some((node) => node.taint === "hard") && <Key shape={<Svg width={14} height={14}>{cell}<path d="M6 .5h7.5V8z" fill="var(--ink-2)" /></Svg>}>{say("map.taint")}</Key>}
        {!many && nodes.some((node) => node.taint === "soft") && <Key shape={<Svg width={14} height={14}>{cell}<path d="M6 .8h7.2V8z" fill="var(--bg)" stroke="var(--ink-2)" /></Svg>}>{say("map.softTaint")}</Key>}
        {nodes.some((node) => node.cordoned) && <Key shape={<Svg width={14} height={14}>{cell}<path d="M1 9 9 1M1 13 13 1M5 13l8-8" stroke="var(--ink-2)" /></Svg>}>{counted("map.cordoned", (node) => node.cordoned)}</Key>}
        {nodes.some((node) => node.pressure) && <Key shape={<Shape name="attention" />}>{counted("map.pressure", (node) => node.pressure)}</Key>}
        {nodes.some((node) => node.lost.length > 0) && <Key shape={<Shape name="attention" />}>{counted("map.lost", (node) => node.lost.length > 0)}</Key>}
        {nodes.some((node) => node.notReady) && <Key shape={<Shape name="stalled" />}>{counted("map.notReady", (node) => node.notReady)}</Key>}
      </div>
    </footer>
  );
}
