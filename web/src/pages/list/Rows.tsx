import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { KubeObject, Table } from "../../api/types";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import { type Kind, pageOf } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { keyOf } from "../../live/store";
import { Shape } from "../../status/shapes";
import { type Status, statusOf, withoutStatus } from "../../status/status";

type Column = Table["columnDefinitions"][number];
type Row = Table["rows"][number];

const loud = ["stalled", "unknown", "waiting", "retrying", "attention"];
/** Beyond so many rows only those in sight are in the page. */
const virtualFrom = 100;

function isNumber(column: Column): boolean {
  return column.type === "integer" || column.type === "number" || column.name === "Age";
}

/** The cell that gets the shape: the one that says how the object is. */
function statusColumn(columns: readonly Column[]): number {
  for (const name of ["Status", "Phase", "Ready", "Available"]) {
    const at = columns.findIndex((column) => column.name === name);
    if (at >= 0) return at;
  }
  return 0;
}

function shownText(cell: unknown): string {
  return cell === null || cell === undefined || cell === "" ? "<none>" : String(cell);
}

interface Props {
  kind: Kind;
  columns: readonly Column[];
  rows: readonly Row[];
  namespace: string | undefined;
  sort: string | undefined;
  open: string | undefined;
  onSort: (by: string | undefined) => void;
  onOpen: (key: string | undefined) => void;
}

/** The table of kubectl, with the shape of each object's status and, where something is wrong, its reason below. */
export function Rows({ kind, columns, rows, namespace, sort, open, onSort, onOpen }: Props) {
  const say = useSay();
  const objects: readonly KubeObject[] = useObjects(kind.plural, namespace);
  const statuses = useMemo(() => new Map(objects.map((object) => [keyOf(object.metadata), statusOf(kind.plural, object)])), [kind, objects]);
  const shown = useMemo(() => columns.map((column, index) => ({ column, index })).filter(({ column }) => column.priority === 0 && column.name !== "Namespace"), [columns]);
  const marked = kind.plural in withoutStatus ? -1 : statusColumn(columns);
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current?.offsetTop ?? 0), []);
  const virtual = rows.length > virtualFrom;
  const rowHeight = (index: number) => (reasonOf(statuses.get(keyOf(rows[index]?.object.metadata ?? {}))) ? 56 : 33);
  const window = useVirtualizer({
    count: virtual ? rows.length : 0, estimateSize: rowHeight, overscan: 12, scrollMargin: offset,
    getScrollElement: () => document.getElementById("content"),
  });
  const inSight = window.getVirtualItems();
  const before = virtual ? (inSight[0]?.start ?? offset) - offset : 0;
  const after = virtual ? window.getTotalSize() - ((inSight.at(-1)?.end ?? offset) - offset) : 0;
  const visible = virtual ? inSight.map((item) => ({ row: rows[item.index], index: item.index })) : rows.map((row, index) => ({ row, index }));

  const press = (event: KeyboardEvent<HTMLTableRowElement>, key: string) => {
    if (event.target !== event.currentTarget) return;
    const step = event.key === "j" || event.key === "ArrowDown" ? "next" : event.key === "k" || event.key === "ArrowUp" ? "previous" : "";
    if (step !== "") {
      const all = [...(body.current?.querySelectorAll<HTMLElement>("tr[data-key]") ?? [])];
      all[all.indexOf(event.currentTarget) + (step === "next" ? 1 : -1)]?.focus();
    } else if (event.key === "Enter") event.currentTarget.querySelector("a")?.click();
    else if (event.key === " ") onOpen(open === key ? undefined : key);
    else if (event.key === "Escape" && open) onOpen(undefined);
    else return;
    event.preventDefault();
  };

  return (
    <div className="panel scroll">
      <table aria-rowcount={rows.length + 1}>
        <thead><tr>{shown.map(({ column }) => <Head key={column.name} column={column} sort={sort} onSort={onSort} />)}<th scope="col"><span className="sr">{say("action.more")}</span></th></tr></thead>
        <tbody ref={body}>
          {before > 0 && <tr aria-hidden="true"><td className="pad" style={{ height: before }} colSpan={shown.length + 1} /></tr>}
          {visible.map(({ row, index }) => {
            if (!row) return null;
            const metadata: KubeObject["metadata"] = row.object.metadata;
            const key = keyOf(metadata);
            const status = statuses.get(key);
            const reason = reasonOf(status);
            return (
              <RowPair key={metadata.uid ?? key} kind={kind} row={row} rowKey={key} index={index} shown={shown} marked={marked} status={status} reason={reason} chosen={open === key} onPress={press} onOpen={onOpen} />
            );
          })}
          {after > 0 && <tr aria-hidden="true"><td className="pad" style={{ height: after }} colSpan={shown.length + 1} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

function reasonOf(status: Status | undefined): boolean {
  return status !== undefined && loud.includes(status.name) && (status.reason !== undefined || status.message !== undefined);
}

/** Only what the server can sort by is a button. */
function Head({ column, sort, onSort }: { column: Column; sort: string | undefined; onSort: (by: string | undefined) => void }) {
  const say = useSay();
  const number = isNumber(column) ? "num" : undefined;
  if (column.name !== "Name" && column.name !== "Age") return <th scope="col" className={number} title={column.description}>{column.name}</th>;
  const now = column.name === "Name" ? (sort === undefined || sort === "name" ? "ascending" : undefined) : sort === "created" ? "descending" : sort === "-created" ? "ascending" : undefined;
  const next = column.name === "Name" ? undefined : sort === "-created" ? "created" : "-created";
  return (
    <th scope="col" className={number} aria-sort={now}>
      <button type="button" className={now ? "sort now" : "sort"} aria-label={say("list.sort", { column: column.name })} onClick={() => onSort(next)}>{column.name}{now === "ascending" ? " ↑" : now === "descending" ? " ↓" : ""}</button>
    </th>
  );
}

interface PairProps {
  kind: Kind; row: Row; rowKey: string; index: number; shown: readonly { column: Column; index: number }[]; marked: number; status: Status | undefined; reason: boolean; chosen: boolean;
  onPress: (event: KeyboardEvent<HTMLTableRowElement>, key: string) => void; onOpen: (key: string | undefined) => void;
}

function RowPair({ kind, row, rowKey, index, shown, marked, status, reason, chosen, onPress, onOpen }: PairProps) {
  const say = useSay();
  const { namespace, name = "" }: KubeObject["metadata"] = row.object.metadata;
  const cell = (column: Column, value: unknown, at: number) => {
    if (column.format === "name" || column.name === "Name") {
      return <Link className="plainlink" to={pageOf(kind.plural, namespace, name)}>{namespace && <span className="ns">{namespace}/</span>}<span className="rowname">{name}</span></Link>;
    }
    if (at === marked && status) return <span className={`st ${status.name}`}><Shape name={status.name} />{shownText(value)}{status.name === "paused" && `, ${say("status.paused").toLowerCase()}`}</span>;
    return <span className={shownText(value) === "<none>" ? "dim" : undefined}>{shownText(value)}</span>;
  };
  return (
    <>
      <tr
        data-key={rowKey} tabIndex={0} aria-rowindex={index + 2} aria-selected={chosen} className={[chosen ? "sel" : "", reason ? "haswhy" : ""].join(" ").trim() || undefined}
        onKeyDown={(event) => onPress(event, rowKey)}
      >
        {shown.map(({ column, index: at }) => <td key={column.name} className={isNumber(column) ? "num" : undefined}>{cell(column, row.cells[at], at)}</td>)}
        <td className="num"><button type="button" className="btn quiet icon" aria-label={say("overview.open", { name })} aria-expanded={chosen} onClick={() => onOpen(chosen ? undefined : rowKey)}><Icon name="right" size={14} /></button></td>
      </tr>
      {reason && (
        <tr className={chosen ? "why sel" : "why"}><td colSpan={shown.length + 1}>{status?.reason && <span className="reason">{status.reason} </span>}<span lang="en">{status?.message}</span></td></tr>
      )}
    </>
  );
}
