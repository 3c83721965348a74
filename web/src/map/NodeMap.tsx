import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { useSay } from "../i18n";
import { cores, gibi } from "../status/quantity";
import { Shape } from "../status/shapes";
import { statusOf } from "../status/status";
import { Drawing } from "./Drawing";
import { cellsFor, sizeOf } from "./geometry";
import { Legend } from "./Legend";
import type { LineRow, NodeMapModel } from "./model";
import { type Line, linesOf } from "./rows";

function Meter({ used, all, text }: { used: number; all: number; text: [string, string] }) {
  const share = all > 0 ? Math.min(100, (100 * used) / all) : 0;
  return (
    <span className="pmb" title={`${Math.round(share)} %`}>
      <span className="small nowrap">{text[0]} <span className="dim">/ {text[1]}</span></span>
      <span className="bar"><i style={{ width: `${share}%` }} /></span>
    </span>
  );
}

function Numbers({ row, measured }: { row: LineRow; measured: boolean }) {
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

/** What keeps pods from the nodes of a pool: in the tooltip of its line, because cells are too small for it. */
function taintsOf(pool: NonNullable<LineRow["pool"]>): string | undefined {
  return pool.spec?.taints?.map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`).join("\n");
}

function Name({ line }: { line: Line }) {
  const say = useSay();
  if (line.row?.pool) {
    return (
      <div className="pl">
        <Shape name={statusOf("nodepools", line.row.pool).name} />
        <Link to="/$kind/$name" params={{ kind: "nodepools", name: line.row.name }} className="name" title={taintsOf(line.row.pool)}>{line.row.name}</Link>
        <span className="total dim">{line.total}</span>
      </div>
    );
  }
  return <div className="pl"><span className={line.row ? "name" : "dim"}>{line.row ? line.row.name : say("map.others", { count: line.others })}</span><span className="total dim">{line.total}</span></div>;
}

/** One line for each pool, zone or size, one cell for each node, and every node once. */
export function NodeMap({ shown, numbers = true }: { shown: NodeMapModel; numbers?: boolean }) {
  const say = useSay();
  const navigate = useNavigate();
  const { open: opened } = useSearch({ from: "__root__" });
  const lines = useMemo(() => linesOf(shown.rows), [shown.rows]);
  const nodes = useMemo(() => shown.layout.blocks.flatMap((block) => block.spots), [shown.layout]);
  const size = sizeOf(nodes.length);
  const each = cellsFor(nodes.length);
  const label = say("map.label", { nodes: nodes.length, notReady: nodes.filter((node) => node.notReady).length });
  const open = (name: string) => void navigate({ to: "/$kind", params: { kind: "nodes" }, search: (before) => ({ ...before, tab: undefined, open: `/${name}` }) });
  return (
    <>
      <div className={`pgrid ${size}${numbers ? "" : " bare"}`}>
        <div className="hd">{say("map.pool")}</div><div className="hd" />
        {numbers && <div className="pm hd"><span className="num">{say("map.ready")}</span><span>{say("map.cpu")}</span><span>{say("map.memoryGi")}</span><span className="num free">{say("map.free")}</span></div>}
        <div className="plines">
          {lines.map((line) => <Name key={line.key} line={line} />)}
          <div className="small dim cellnote">{each > 1 ? say("map.cells", { count: each }) : say("map.cell")}</div>
        </div>
        <Drawing shown={shown} bare={!numbers} lines={lines} label={label} opened={opened?.replace(/^\//, "")} onOpen={open} />
        {numbers && <div className="pnumbers">{lines.map((line) => (line.row ? <Numbers key={line.key} row={line.row} measured={shown.measured} /> : <div key={line.key} className="pm" />))}<div className="small dim mapnote">{say("map.note")}</div></div>}
      </div>
      <Legend nodes={nodes} measured={shown.measured} size={size} />
    </>
  );
}
