import { memo } from "react";
import { createPortal } from "react-dom";
import { useSay } from "../i18n";
import { cores, gibi } from "../status/quantity";
import { StatusMark } from "../status/shapes";
import { statusOf } from "../status/status";
import type { Cell } from "./geometry";

const width = 300;
const room = 8;

/** What a cell is, above it or below it: never over it. */
export const CellPopover = memo(function CellPopover({ cell, boxOf, measured }: { cell: Cell; boxOf: (cell: Cell) => DOMRect | undefined; measured: boolean }) {
  const say = useSay();
  const box = boxOf(cell);
  if (!box) return null;
  const { node } = cell;
  const below = box.top < 220;
  const left = Math.max(room, Math.min(window.innerWidth - width - room, box.left + box.width / 2 - width / 2));
  // Moved and not placed: it is a layer of its own, so that what it was over is not drawn anew.
  const place = below ? { top: 0, width, transform: `translate(${left}px, ${box.bottom + room}px)` } : { bottom: 0, width, transform: `translate(${left}px, ${box.top - room - window.innerHeight}px)` };
  const used = (of: { requested: number; allocatable: number }, show: (value: number) => string) =>
    measured ? say("map.usedOf", { used: show(of.requested), all: show(of.allocatable) }) : show(of.allocatable);
  const taints = (node.node.spec?.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
  const turns = Object.entries(node.ties).filter(([, tie]) => tie !== "has").map(([name, tie]) => `${name}: ${say(`map.${tie === "waits" ? "waits" : tie === "turn" ? "turn" : "leaves"}`)}`);
  return createPortal(
    <div className="pop cellpop" style={place} role="presentation">
      <div className="row wrap"><StatusMark status={statusOf("nodes", node.node)} /><strong>{node.name}</strong>{node.pools.map((name) => <span key={name} className={node.ties[name] === "leaves" ? "chip gone" : "chip"}>{name}</span>)}</div>
      {cell.nodes.length > 1 && <p className="small sub">{say("map.worst", { count: cell.nodes.length })}</p>}
      <dl className="kv">
        <dt>{say("map.cpu")}</dt><dd>{used(node.cpu, cores)}</dd>
        <dt>{say("map.memory")}</dt><dd>{used(node.memory, gibi)}</dd>
        {node.zone !== "" && <><dt>{say("map.zone")}</dt><dd>{node.zone}</dd></>}
        {taints.length > 0 && <><dt>{say("fact.taints")}</dt><dd>{taints.map((taint) => <div key={taint}><code>{taint}</code></div>)}</dd></>}
        {turns.length > 0 && <><dt>{say("fact.rollout")}</dt><dd>{turns.join("; ")}</dd></>}
        {node.lost.length > 0 && <><dt>{say("map.lost")}</dt><dd>{node.lost.join(", ")}</dd></>}
      </dl>
    </div>,
    document.body,
  );
});
