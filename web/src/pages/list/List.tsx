import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { deedsOf } from "../../actions/list";
import { useDeed } from "../../actions/useDeed";
import { targetOf } from "../../actions/useOrder";
import { Refusal } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { Layer } from "../../components/Layer";
import { Later, later } from "../../components/later";
import { Failure, Segments, Skeleton } from "../../components/parts";
import { tellFailure } from "../../components/toasts";
import { useSay } from "../../i18n";
import { type Kind, pageOf, rehearsed } from "../../kinds/registry";
import { remember as rememberOrder } from "../../live/neighbours";
import { useTitle } from "../../live/needs";
import { store } from "../../live/store";
import { NewButton } from "../create/NewButton";
import { sized, wantSize } from "../parts/sizing";
import type { Bulk } from "./bulk";
import { BulkBar } from "./BulkBar";
import { allColumns, chosen, remember, remembered, toggled } from "./columns";
import { Counting, MapSwitch, NodesMap, useMapped } from "./Around";
import { Drawer } from "./Drawer";
import { Empty } from "./Empty";
import { everything } from "./everything";
import { type Filter, joined, parse } from "./filter";
import { FilterField } from "./FilterField";
import { type Grouping, groupings, lines as linesOf } from "./groups";
import { Forbidden } from "./Forbidden";
import { HostHead, useHosts, useHostsOf } from "./HostHead";
import { tooLong } from "./limits";
import { keyOfRow, nameOfRow } from "./names";
import { type RowKey, Rows } from "./Rows";
import type { TableRow } from "./Row";
import * as selecting from "./selection";
import { servedSort } from "./sorting";
import { useHeldRows } from "./useHeldRows";
import { useSorted } from "./useSorted";
import { type Sight, useTable } from "./useTable";

const ColumnChoice = later(async () => (await import("./ColumnChoice")).ColumnChoice);
const RowMenu = later(async () => (await import("./RowMenu")).RowMenu);

function objectAt(kind: Kind, key: string): KubeObject | undefined {
  return store.at(kind.plural, key);
}

/** Before the first snapshot nobody knows what is gone. */
function without(kind: Kind, selection: selecting.Selection): selecting.Selection {
  return store.filled ? selecting.present(selection, (key, uid) => objectAt(kind, key)?.metadata.uid === uid) : selection;
}

/** The list of a kind. What it shows is in the address: it can be sent to somebody else, and Back works. */
export function List({ kind }: { kind: Kind }) {
  const say = useSay();
  const navigate = useNavigate();
  const { ns, q = "", l = "", f = "", sort, open, cols, group: by } = useSearch({ from: "__root__" });
  const namespace = kind.namespaced ? ns : undefined;
  const filter = useMemo(() => joined(parse(q), { words: "", labels: l, fields: f }), [q, l, f]);
  const table = useTable(kind.plural, namespace, filter, servedSort(sort), tooLong(filter) === undefined);
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const [selection, setSelection] = useState(selecting.nothing);
  const [bulk, setBulk] = useState<Bulk>();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [menu, setMenu] = useState<{ key: string; anchor: Element }>();
  const { begin, ask, dialog } = useDeed();
  const [mapped, setMapped] = useMapped();
  const held = pointed || focused;
  const { pages, order: sorted, whole } = useSorted(kind.plural, table, sort);
  const { first, rows: shown, moved, isGone, show } = useHeldRows(pages, held, `${table.of} ${sorted ?? ""}`);
  const title = say(`kind.${kind.plural}`);
  useTitle(title);

  const search = useCallback((change: Record<string, string | undefined>) => void navigate({ to: ".", search: (before) => ({ ...before, ...change }), replace: "q" in change }), [navigate]);
  const onFilter = useCallback((to: Filter) => search({ q: to.words || undefined, l: to.labels || undefined, f: to.fields || undefined }), [search]);
  const onOpen = useCallback((key: string | undefined) => search({ open: key }), [search]);

  // Rows that have come while the list is held have no place in it: it ends sooner by as many.
  const { look } = table;
  const waiting = Math.max(0, table.loaded - shown.length);
  const onSight = useCallback(({ from, until }: Sight) => look({ from, until: until + waiting }), [look, waiting]);

  const forbidden = table.error instanceof Refusal && table.error.problem.status === 403 ? table.error : undefined;
  // No pointer and no focus leaves rows that are taken away, as those of another filter are.
  const inside = useRef<HTMLDivElement>(null);
  const none = shown.length === 0 || forbidden !== undefined;
  useEffect(() => {
    if (!inside.current) setPointed(false);
    if (!inside.current?.contains(document.activeElement)) setFocused(false);
  }, [table.of, none]);

  const groups = groupings(kind.plural, kind.namespaced, namespace);
  const grouping: Grouping = groups.find((each) => each === by) ?? groups[0] ?? "none";
  const hosts = useHosts(grouping === "host");
  const hostsOf = useHostsOf(grouping === "host");
  const groupOf = useMemo(() => {
    if (grouping === "none") return undefined;
    return (row: TableRow) => (grouping === "namespace" ? (nameOfRow(row).of?.namespace ?? "") : (hostsOf.get(keyOfRow(row)) ?? ""));
  }, [grouping, hostsOf]);
  const lines = useMemo(() => linesOf(shown, groupOf, closed), [shown, groupOf, closed]);
  const names = useMemo(() => lines.flatMap((line) => ("row" in line ? [nameOfRow(line.row)] : [])), [lines]);
  const keys = useMemo(() => names.map(({ key }) => key), [names]);
  useEffect(() => rememberOrder(kind.plural, keys), [kind, keys]);
  // Rows that are gone are there to be read, and no more.
  const order = useRef(names);
  order.current = useMemo(() => names.filter(({ of }) => !isGone(of?.uid)), [names, isGone]);

  const definitions = first?.columnDefinitions;
  const all = useMemo(() => allColumns(kind.plural, definitions ?? []), [kind, definitions]);
  const choice = cols ?? remembered(kind.plural);
  const columns = useMemo(() => chosen(all, choice), [all, choice]);
  const choose = (to: string | undefined) => { remember(kind.plural, to); search({ cols: to }); };

  const select = useCallback((key: string, range: boolean) => setSelection((before) => {
    if (range) return selecting.range(before, order.current, key);
    const item = order.current.find((each) => each.key === key);
    return item ? selecting.toggle(before, item) : before;
  }), []);
  const selectAll = useCallback(() => setSelection((before) => selecting.all(before, order.current)), []);
  const clear = useCallback(() => setSelection(selecting.nothing), []);
  useEffect(() => { clear(); setBulk(undefined); }, [clear, kind, namespace, filter]);
  useEffect(() => store.subscribe(kind.plural, () => setSelection((before) => without(kind, before))), [kind]);
  const picking = useRef<readonly KubeObject[]>([]);
  const picked = useMemo(() => (picking.current = selecting.objects(selection, picking.current, (key) => objectAt(kind, key))), [selection, kind, table.data]); // eslint-disable-line react-hooks/exhaustive-deps -- objects change with the table
  // What is asked for now; nothing once the list is gone.
  const asked = useRef<string>(undefined);
  useEffect(() => { asked.current = table.asked; return () => { asked.current = undefined; }; }, [table.asked]);
  const selectEverything = async () => {
    const read = await everything(table, () => asked.current === table.asked);
    if (read?.error) tellFailure(say("action.failed", { message: read.error.message }), read.error);
    else if (read) setSelection(selecting.and(selecting.nothing, read.data?.pages.flatMap((page) => page.rows).map(nameOfRow) ?? []));
  };

  const page = useCallback((key: string, tab?: string) => {
    const slash = key.indexOf("/");
    void navigate({ to: pageOf(kind.plural, key.slice(0, slash) || undefined, key.slice(slash + 1)), search: { ns, tab } });
  }, [navigate, kind, ns]);
  /** Leads to the stepper, where there is one. */
  const scale = useCallback((key: string) => {
    if (!sized.includes(kind.plural)) return;
    wantSize(`${kind.plural}/${key}`);
    page(key);
  }, [kind, page]);
  /** The same for all that are selected, where they can be sized together. */
  const scaleSome = useCallback((key: string) => {
    const several = picking.current.length > 0 ? document.querySelector<HTMLElement>(".bulk [data-deed='action.scale']") : undefined;
    if (several) several.click();
    else scale(key);
  }, [scale]);
  const onKey = useCallback((what: RowKey, key: string) => {
    const object = objectAt(kind, key);
    if (what === "page") page(key);
    else if (what === "scale") scaleSome(key);
    else if (what === "yaml" || (what === "edit" && !rehearsed.includes(kind.plural))) page(key, "yaml");
    else if (what === "edit") page(key); // which has the button that changes it
    else if (what === "drawer") search({ open: open === key ? undefined : key });
    else if (what === "close") { search({ open: undefined }); clear(); }
    else if (object) {
      const target = targetOf(kind, object);
      const deed = deedsOf(target, object).find((each) => each.key === "action.delete");
      if (deed) ask(deed, target);
    }
  }, [kind, open, page, scaleSome, search, clear, ask]);
  const beginNow = useRef(begin);
  beginNow.current = begin;
  const onDeed = useCallback<typeof begin>((deed, target) => beginNow.current(deed, target), []);
  const onMenu = useCallback((key: string, anchor: Element) => setMenu({ key, anchor }), []);
  const fold = useCallback((group: string) => setClosed((before) => { const next = new Set(before); if (!next.delete(group)) next.add(group); return next; }), []);

  const wrong = table.error instanceof Refusal && [400, 422].includes(table.error.problem.status) ? table.error : undefined;
  const count = table.hasNextPage || table.isFetchingNextPage ? say("list.loading", { shown: table.loaded, total: table.total }) : say("list.count", { shown: shown.length, total: table.total });
  const menuObject = menu && objectAt(kind, menu.key);
  const filtered = filter.words + filter.labels + filter.fields !== "";
  return (
    <div className={open ? "split" : undefined}>
      <div className="list">
        <div className="title"><div><h1>{title}</h1>{!forbidden && <Counting kind={kind} namespace={namespace} />}</div><div className="acts">{kind.plural === "nodes" && !forbidden && <MapSwitch on={mapped} onChange={setMapped} />}<NewButton kind={kind} namespace={namespace} /></div></div>
        {kind.plural === "nodes" && mapped && !forbidden && <NodesMap />}
        {!forbidden && <div className="row tools">
          <FilterField kind={kind} value={filter} wrong={wrong} count={count} onChange={onFilter} />
          {groups.length > 1 && <Segments label={say("group.label")} value={grouping} options={groups.map((each) => [each, say(`group.by.${each}`)] as const)} onChange={(to) => search({ group: to === groups[0] ? undefined : to })} />}
          {definitions && <Later short><ColumnChoice all={all} shown={columns} onToggle={(name) => choose(toggled(all, choice, name))} onReset={() => choose(undefined)} /></Later>}
        </div>}
        {forbidden && <Forbidden kind={kind} namespace={namespace} error={forbidden} />}
        {table.error && !wrong && !forbidden && <Failure error={table.error} again={() => void table.refetch()} />}
        {table.isLoading && <Skeleton rows={8} />}
        {grouping === "host" && hosts.data?.complete === false && <p className="sub small">{say("host.incomplete")}</p>}
        {!forbidden && moved.added + moved.gone > 0 && <button type="button" className="plain stale" onClick={show}>{say("list.moved", moved)}</button>}
        {definitions && none && !forbidden && !table.isPlaceholderData && <Empty kind={kind} namespace={namespace} filtered={filtered} onClear={() => onFilter({ words: "", labels: "", fields: "" })} />}
        {definitions && !none && (
          <div
            ref={inside} onPointerEnter={() => setPointed(true)} onPointerLeave={() => setPointed(false)} onFocus={() => setFocused(true)}
            onBlur={(event) => { if (!event.currentTarget.contains(event.relatedTarget)) setFocused(false); }}
          >
            <Rows
              kind={kind} columns={definitions} shown={columns} lines={lines} total={table.total} sort={sorted} whole={whole} open={open} selection={selection} all={selecting.isWhole(selection, order.current)} isGone={isGone}
              groupHead={(name, inside) => (grouping === "host" ? <HostHead name={name} hosts={hosts.data} /> : <><strong>{name}</strong><span>{say("group.count", { count: inside })}</span></>)}
              onSort={(to) => search({ sort: to })} onOpen={onOpen} onSelect={select} onSelectAll={selectAll} onKey={onKey} onMenu={onMenu} onDeed={onDeed} onFold={fold} onSight={onSight}
            />
          </div>
        )}
        {/* What is being done with several says what has become of each, also of the last. */}
        {(picked.length > 0 || bulk) && <BulkBar kind={kind} objects={picked} chosen={bulk} onChoose={setBulk} more={table.hasNextPage && picked.length >= table.loaded ? table.total : undefined} onAll={() => void selectEverything()} onClear={clear} />}
      </div>
      {open && <Drawer kind={kind} open={open} order={keys} onOpen={onOpen} />}
      {menu && menuObject && (
        <Layer onClose={() => setMenu(undefined)}>
          <RowMenu
            anchor={menu.anchor} target={targetOf(kind, menuObject)} object={menuObject} onDeed={(deed) => void begin(deed, targetOf(kind, menuObject))} onAsk={(deed) => ask(deed, targetOf(kind, menuObject))}
            onDrawer={() => search({ open: menu.key })} onPage={(tab) => page(menu.key, tab)} onScale={sized.includes(kind.plural) ? () => scale(menu.key) : undefined} onClose={() => setMenu(undefined)}
          />
        </Layer>
      )}
      {dialog}
    </div>
  );
}
