import { Link } from "@tanstack/react-router";
import { memo, type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { Target } from "../../actions/commands";
import type { Deed } from "../../actions/list";
import type { KubeObject, Objects, Table } from "../../api/types";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import { type Kind, pageOf } from "../../kinds/registry";
import { sumOf } from "../../status/podsum";
import { Shape } from "../../status/shapes";
import type { Status } from "../../status/status";
import { Age, Cell, Restarts, restartsIn, tint } from "./Cell";
import { type Column, numeric, type Shown } from "./columns";
import { UsageCell } from "./UsageCell";
import { OwnCell } from "./OwnCell";
import { RowDeeds } from "./RowDeeds";
import { RowWhy } from "./RowWhy";

export type TableRow = Table["rows"][number];

export function isNumber(column: Column | undefined): boolean {
  return column !== undefined && (column.type === "integer" || column.type === "number" || column.name === "Age");
}

/** Where the pointer was seen last. */
let seen = "";

/** Whether the pointer itself has moved: a row that is scrolled under it is told of a move to the same place. */
function hasMoved({ clientX, clientY }: PointerEvent): boolean {
  const before = seen;
  seen = `${clientX} ${clientY}`;
  return seen !== before;
}

function shownText(cell: unknown): string {
  return cell === null || cell === undefined || cell === "" ? "<none>" : String(cell);
}

/** Names and the status have places of their own where rows are two lines. */
function classOf({ name, at, column }: Shown, marked: number): string | undefined {
  return name === "Name" ? "nm" : at >= 0 && at === marked ? "mark" : isNumber(column) || (column === undefined && numeric.includes(name)) ? "num" : undefined;
}

export interface RowProps {
  kind: Kind;
  row: TableRow;
  rowKey: string;
  index: number;
  shown: readonly Shown[];
  marked: number;
  status: Status | undefined;
  reason: boolean;
  object: KubeObject | undefined;
  chosen: boolean;
  selected: boolean;
  gone: boolean;
  /** Whether it has come while the list was open, and was not shown before. */
  fresh: boolean;
  /** Whether Tab leads to it: it does to one row of a list, and the arrows lead to the others. */
  stop: boolean;
  onKey: (event: KeyboardEvent<HTMLTableRowElement>, key: string, index: number) => void;
  onFocus: (index: number) => void;
  onOpen: (key: string) => void;
  onSelect: (key: string, range: boolean) => void;
  onMenu: (key: string, anchor: Element) => void;
  onDeed: (deed: Deed, target: Target) => Promise<void>;
}

function same(a: RowProps, b: RowProps): boolean {
  for (const name of ["kind", "rowKey", "index", "shown", "marked", "status", "reason", "object", "chosen", "selected", "gone", "stop", "onKey", "onFocus", "onOpen", "onSelect", "onMenu", "onDeed"] as const) {
    if (a[name] !== b[name]) return false;
  }
  return a.row === b.row || a.row.cells.every((cell, at) => cell === b.row.cells[at]);
}

/** One object, with its reason in a line of its own where something is wrong. Rendered again only when what it shows has changed. */
export const Row = memo(function Row(props: RowProps) {
  const { kind, row, rowKey, index, shown, marked, status, reason, object, chosen, selected, gone, fresh, stop } = props;
  const say = useSay();
  const { namespace, name = "" }: KubeObject["metadata"] = row.object.metadata;
  const cell = ({ name: column, at, column: definition }: Shown): ReactNode => {
    if (column === "Name" || definition?.format === "name") {
      return <Link className="plainlink" tabIndex={within ? 0 : -1} to={pageOf(kind.plural, namespace, name)}>{namespace && <span className="ns">{namespace}/</span>}<span className="rowname">{name}</span></Link>;
    }
    if (!definition) return <OwnCell column={column} object={object} />;
    const { creationTimestamp: created }: KubeObject["metadata"] = row.object.metadata;
    if (column === "Age" && created) return <Age since={created} />;
    const value = shownText(row.cells[at]);
    if (kind.plural === "virtualmachines" && (column === "CPU" || column === "Memory")) return <UsageCell column={column} value={value} namespace={namespace} name={name} />;
    const count = kind.plural === "pods" && column === "Restarts" ? restartsIn(value) : undefined;
    const last = count !== undefined && object ? sumOf(object as Objects["pods"]).since : undefined;
    if (count !== undefined && last !== undefined) return <Restarts count={count} since={last} />;
    if (gone && at === marked) return <span className="dim">{say("list.gone")}</span>;
    if (at === marked && status) return <span className={`st ${status.name}`}><Shape name={status.name} />{value}{status.name === "paused" && `, ${say("status.paused").toLowerCase()}`}</span>;
    return <span className={value === "<none>" ? "dim" : undefined}>{value}</span>;
  };
  const click = (event: MouseEvent<HTMLTableRowElement>) => {
    if (event.target instanceof Element && event.target.closest("a,button,input,label") === null && window.getSelection()?.isCollapsed !== false) props.onOpen(rowKey);
  };
  // Its buttons are there while the pointer or the focus is in the row. Rows that are scrolled under a pointer at rest stay as they are.
  const line = useRef<HTMLTableRowElement>(null);
  const [pointed, setPointed] = useState(false);
  const [within, setWithin] = useState(false);
  const hot = (pointed || within) && !gone && object !== undefined;
  const point = (event: PointerEvent<HTMLTableRowElement>) => { if (event.pointerType !== "touch" && hasMoved(event)) setPointed(true); };
  // The focus comes back from a dialog to the button that has opened it, and from another window to where it was.
  const returns = (to: Element | null) => to?.closest("[role=dialog], [role=alertdialog]") ?? (line.current?.contains(document.activeElement) === true || line.current?.contains(to) === true);
  const leave = ({ relatedTarget }: FocusEvent<HTMLTableRowElement>) => { if (!returns(relatedTarget)) setWithin(false); };
  // A button that was replaced while it had the focus has not said that it lost it.
  const unpoint = () => { setPointed(false); if (!returns(document.activeElement)) setWithin(false); };
  const came = useRef(fresh);
  useEffect(() => { if (came.current) for (const each of line.current?.cells ?? []) tint(each); }, []);
  const marks = [chosen ? "sel" : selected ? "picked" : "", reason ? "haswhy" : "", gone ? "gone" : ""].filter(Boolean).join(" ");
  return (
    <>
      <tr
        ref={line} data-key={rowKey} data-part={`row ${rowKey}`} tabIndex={stop ? 0 : -1} aria-rowindex={index + 2} aria-selected={selected} className={marks || undefined}
        onKeyDown={(event) => props.onKey(event, rowKey, index)} onFocus={() => { setWithin(true); props.onFocus(index); }} onBlur={leave} onPointerMove={point} onPointerLeave={unpoint} onClick={click}
      >
        <td className="pick"><input type="checkbox" checked={selected} tabIndex={-1} aria-label={say("list.select", { name })} onChange={() => undefined} onClick={(event) => props.onSelect(rowKey, event.shiftKey)} /></td>
        {shown.map((each) => <Cell key={each.name} name={each.name} value={each.at < 0 ? undefined : row.cells[each.at]} quiet={each.name === "Age" || (kind.plural === "virtualmachines" && (each.name === "CPU" || each.name === "Memory"))} className={classOf(each, marked)}>{cell(each)}</Cell>)}
        <td className={hot ? "num acts hot" : "num acts"}>{hot && <RowDeeds kind={kind} object={object} onDeed={props.onDeed} />}<button type="button" className="btn quiet icon" tabIndex={hot ? 0 : -1} aria-label={say("row.menu", { name })} aria-haspopup="menu" onClick={(event) => props.onMenu(rowKey, event.currentTarget)}><Icon name="more" size={14} /></button></td>
      </tr>
      {reason && (
        <tr data-part={`why ${rowKey}`} className={`why ${chosen ? "sel" : selected ? "picked" : ""}`.trim()}><td /><td colSpan={shown.length + 1}>{status && object && <RowWhy kind={kind.kind} status={status} object={object} />}</td></tr>
      )}
    </>
  );
}, same);
