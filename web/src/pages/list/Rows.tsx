import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { KubeObject } from "../../api/types";
import { Icon } from "../../components/Icon";
import { isKey, lettersOn } from "../../components/letters";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { store } from "../../live/store";
import { statusOf, withoutStatus } from "../../status/status";
import { type Column, type Shown } from "./columns";
import { Head } from "./Head";
import { type Line } from "./groups";
import { keyOfRow, nameOf, nameOfRow } from "./names";
import { Newcomers } from "./newcomers";
import { hasReason, isShort } from "./reasons";
import { Row, type RowProps, type TableRow } from "./Row";
import { has, type Selection } from "./selection";
import { layOut, type Tall } from "./tall";
import { Pairs } from "./told";
import { useFits } from "./useFits";
import { useHeights } from "./useHeights";
import { roomFor } from "./RowDeeds";
import type { Sight } from "./useTable";
import { useWindow } from "./useWindow";

/** So many arcs turn at once; where there are more, all stand still. */
const mostTurning = 20;

/** The cell that gets the shape: the one that says how the object is. */
function statusColumn(columns: readonly Column[]): number {
  for (const name of ["Status", "Phase", "Ready", "Available"]) {
    const at = columns.findIndex((column) => column.name === name);
    if (at >= 0) return at;
  }
  return 0;
}

/** What a key does with a row; the list does it. */
export type RowKey = "page" | "drawer" | "close" | "yaml" | "edit" | "scale" | "delete";
const keys: Readonly<Record<string, RowKey>> = { Enter: "page", " ": "drawer", Escape: "close", y: "yaml", e: "edit", s: "scale", Delete: "delete" };

interface Props {
  kind: Kind;
  columns: readonly Column[];
  shown: readonly Shown[];
  lines: readonly Line<TableRow>[];
  total: number;
  sort: string | undefined;
  /** Whether the list is all there is: then any column can be sorted by. */
  whole: boolean;
  open: string | undefined;
  selection: Selection;
  /** Whether all rows are selected. */
  all: boolean;
  isGone: (uid: string | undefined) => boolean;
  groupHead: (group: string, count: number) => ReactNode;
  onSort: (by: string | undefined) => void;
  onOpen: (key: string | undefined) => void;
  onSelect: (key: string, range: boolean) => void;
  onSelectAll: () => void;
  onKey: (what: RowKey, key: string) => void;
  onMenu: (key: string, anchor: Element) => void;
  onDeed: RowProps["onDeed"];
  onFold: (group: string) => void;
  onSight: (sight: Sight) => void;
}

function objectOf(kind: Kind, row: TableRow): KubeObject | undefined {
  return store.at(kind.plural, keyOfRow(row));
}

/** The table of kubectl, with the shape of each object's status and, where something is wrong, its reason below. */
export function Rows(props: Props) {
  const { kind, columns, shown, lines, selection, open, onOpen, onSelect, onKey, onSight } = props;
  const say = useSay();
  // The objects themselves say how they are; rows are told again when one of them changes.
  const objects = useObjects(kind.plural);
  const judged = !(kind.plural in withoutStatus);
  const marked = judged ? statusColumn(columns) : -1;
  const body = useRef<HTMLTableSectionElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const fits = useFits(panel);
  const [focused, setFocused] = useState(-1);
  const places = useMemo(() => {
    const out: number[] = [];
    lines.forEach((line, at) => { if ("row" in line) out.push(at); });
    return out;
  }, [lines]);
  const measured = useHeights(body);
  const names = useMemo(() => lines.map(nameOf), [lines]);
  const short = isShort(kind.plural, props.total);
  const laid = useRef<{ tall: Tall; short: boolean }>(undefined);
  const [pairs] = useState(() => new Pairs());
  useEffect(() => pairs.keep(names.length, () => names.map(({ of }) => of?.uid)), [pairs, names]);
  const { tall, calm } = useMemo(() => {
    void objects;
    const tall = layOut(laid.current?.short === short ? laid.current.tall : undefined, names, measured, (key) => (judged ? store.at(kind.plural, key) : undefined), (object, of) => {
      const status = of ? pairs.status(of, object, statusOf(kind.plural, object)) : statusOf(kind.plural, object);
      return { reason: hasReason(status, short), name: status.name };
    });
    laid.current = { tall, short };
    return { tall: tall.heights, calm: tall.moving > mostTurning };
  }, [objects, names, kind, judged, measured, pairs, short]);
  const window = useWindow(tall, body, focused < 0 ? -1 : (places[focused] ?? -1));

  const first = lines.slice(window.from).find((line) => "row" in line);
  const from = first && "row" in first ? first.index : 0;
  const until = from + window.until - window.from;
  useEffect(() => onSight({ from, until }), [from, until, onSight]);

  const wanted = useRef(-1);
  useEffect(() => {
    if (wanted.current < 0) return;
    const row = body.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${wanted.current + 2}"]`);
    wanted.current = -1;
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  });
  // Tab leads to the row that had the focus last, or else to the one that is open, or to the first in the page.
  const [last, setLast] = useState<string>();
  const inPage = window.pieces.flatMap(({ index: at }) => { const line = lines[at]; return line && "row" in line ? [keyOfRow(line.row)] : []; });
  const stop = [last, open].find((key) => key !== undefined && inPage.includes(key)) ?? inPage[0];
  const count = places.length;
  const latest = useRef({ lines, places, open, count });
  latest.current = { lines, places, open, count };
  const keyAt = (index: number) => { const line = latest.current.lines[latest.current.places[index] ?? -1]; return line && "row" in line ? keyOfRow(line.row) : undefined; };
  const focus = useCallback((index: number) => { setFocused(index); setLast(keyAt(index)); }, []);
  const press = useCallback((event: KeyboardEvent<HTMLTableRowElement>, key: string, index: number) => {
    const letter = event.key.length === 1 && event.key !== " ";
    // Who has selected with the mouse is at the box of a row, which takes no letters.
    const boxed = letter && event.target instanceof HTMLInputElement && event.target.type === "checkbox";
    if ((event.target !== event.currentTarget && !boxed) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (letter && !lettersOn()) return;
    const steps: Record<string, number> = { j: index + 1, ArrowDown: index + 1, k: index - 1, ArrowUp: index - 1, Home: 0, End: latest.current.count - 1 };
    const step = steps[event.key];
    if (step !== undefined) {
      const to = Math.max(0, Math.min(latest.current.count - 1, step));
      const next = keyAt(to);
      if (event.shiftKey && next !== undefined) { onSelect(key, true); onSelect(next, true); }
      if (latest.current.open !== undefined && next !== undefined) onOpen(next);
      wanted.current = to;
      setFocused(to);
    } else if (event.key === "x") onSelect(key, false);
    else if (keys[event.key]) onKey(keys[event.key] ?? "page", key);
    else return;
    event.preventDefault();
  }, [onSelect, onOpen, onKey]);
  // J and K begin at the object that is open, or at the first row.
  useEffect(() => {
    const begin = (event: globalThis.KeyboardEvent) => {
      if ((event.key !== "j" && event.key !== "k") || !isKey(event) || (event.target instanceof Element && event.target.closest("tr[data-key], .mapstop"))) return;
      const at = latest.current.places.findIndex((place) => { const line = latest.current.lines[place]; return line && "row" in line && keyOfRow(line.row) === latest.current.open; });
      if (latest.current.count === 0) return;
      wanted.current = at < 0 ? 0 : Math.max(0, Math.min(latest.current.count - 1, at + (event.key === "j" ? 1 : -1)));
      const next = keyAt(wanted.current);
      if (at >= 0 && next !== undefined) onOpen(next);
      setFocused(wanted.current);
      event.preventDefault();
    };
    document.addEventListener("keydown", begin);
    return () => document.removeEventListener("keydown", begin);
  }, [onOpen]);
  const [newcomers] = useState(() => new Newcomers(Date.now()));
  useEffect(() => newcomers.see(names.map(({ of }) => of)), [newcomers, names]);
  const toggle = useCallback((key: string) => onOpen(latest.current.open === key ? undefined : key), [onOpen]);

  const width = shown.length + 2;
  return (
    <div ref={panel} className={fits ? "panel scroll fits" : "panel scroll"} onBlur={(event) => { if (!event.currentTarget.contains(event.relatedTarget)) setFocused(-1); }}>
      <table className={calm ? "cards calm" : "cards"} data-deeds={roomFor(kind.plural)} aria-rowcount={props.total + 1} aria-multiselectable="true" role="grid">
        <thead>
          <tr>
            <th scope="col" className="pick"><input type="checkbox" aria-label={say("list.selectAll")} checked={props.all} ref={(box) => { if (box) box.indeterminate = selection.uids.size > 0 && !props.all; }} onChange={props.onSelectAll} /></th>
            {shown.map((each) => <Head key={each.name} shown={each} sort={props.sort} whole={props.whole} onSort={props.onSort} />)}
            <th scope="col"><span className="sr">{say("action.more")}</span></th>
          </tr>
        </thead>
        <tbody ref={body}>
          {window.pieces.flatMap(({ gap, index: at }) => {
            const line = lines[at];
            if (!line) return [];
            const room = gap > 0 ? [<tr key={`gap${at}`} aria-hidden="true"><td className="pad" style={{ height: gap }} colSpan={width} /></tr>] : [];
            if (!("row" in line)) {
              return [...room, (
                <tr key={`group ${line.group}`} data-part={`group ${line.group}`} className="group">
                  <td colSpan={width}><span className="row"><button type="button" className="fold" aria-expanded={line.open} aria-label={line.group} onClick={() => props.onFold(line.group)}><Icon name={line.open ? "down" : "right"} size={14} /></button>{props.groupHead(line.group, line.count)}</span></td>
                </tr>
              )];
            }
            const key = keyOfRow(line.row);
            const object = objectOf(kind, line.row);
            const row = pairs.row(line.row, object);
            const status = judged && object ? pairs.status(row.object.metadata, object, statusOf(kind.plural, object)) : undefined;
            return [...room, (
              <Row
                key={row.object.metadata.uid ?? key} kind={kind} row={row} rowKey={key} index={line.index} shown={shown} marked={marked} status={status} reason={hasReason(status, short)} object={object}
                chosen={open === key} selected={has(selection, nameOfRow(line.row))} gone={props.isGone(row.object.metadata.uid)} fresh={newcomers.isFresh(row.object.metadata)} stop={key === stop} onKey={press} onFocus={focus} onOpen={toggle} onSelect={onSelect} onMenu={props.onMenu} onDeed={props.onDeed}
              />
            )];
          })}
          {window.rest > 0 && <tr aria-hidden="true"><td className="pad" style={{ height: window.rest }} colSpan={width} /></tr>}
        </tbody>
      </table>
    </div>
  );
}
