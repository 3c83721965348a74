import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Refusal } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { Command, Failure, Nothing, Skeleton } from "../../components/parts";
import { useSay } from "../../i18n";
import { type Kind, kindOf } from "../../kinds/registry";
import { useHeld, useObjects } from "../../live/hooks";
import { useTitle } from "../../live/needs";
import { model } from "../../map/model";
import { NodeMap } from "../../map/NodeMap";
import { worst } from "../../status/order";
import { statusOf, withoutStatus } from "../../status/status";
import { NotFound } from "../NotFound";
import { EventTable } from "../parts/EventTable";
import { Drawer } from "./Drawer";
import { FilterField } from "./FilterField";
import { Rows } from "./Rows";
import { useTable } from "./useTable";

export function ListPage() {
  const { kind: plural } = useParams({ from: "/$kind" });
  const kind = kindOf(plural);
  if (!kind) return <NotFound />;
  return kind.plural === "events" ? <Events /> : <List key={kind.plural} kind={kind} />;
}

function Counting({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const objects: readonly KubeObject[] = useObjects(kind.plural, namespace);
  const bad = useMemo(() => worst(kind.plural, objects)?.count ?? 0, [kind, objects]);
  const moving = useMemo(() => objects.filter((object) => ["reconciling", "retrying"].includes(statusOf(kind.plural, object).name)).length, [kind, objects]);
  if (kind.plural in withoutStatus) return <p className="sub">{say("list.total", { total: objects.length })}</p>;
  const key = bad + moving === 0 ? "list.allReady" : moving === 0 ? "list.bad" : bad === 0 ? "list.moving" : "list.sub";
  return <p className="sub">{say(key, { total: objects.length, bad, moving })}</p>;
}

function List({ kind }: { kind: Kind }) {
  const say = useSay();
  const navigate = useNavigate();
  const { ns, q = "", sort, open } = useSearch({ from: "__root__" });
  const namespace = kind.namespaced ? ns : undefined;
  const table = useTable(kind.plural, namespace, q, sort);
  const [held, setHeld] = useState(false);
  const pages = useHeld(table.data?.pages, held);
  const title = say(`kind.${kind.plural}`);
  useTitle(title);

  const search = (change: Record<string, string | undefined>) => void navigate({ to: ".", search: (before) => ({ ...before, ...change }), replace: "q" in change });
  const wrong = table.error instanceof Refusal && table.error.problem.status === 422 ? table.error : undefined;
  const forbidden = table.error instanceof Refusal && table.error.problem.status === 403 ? table.error : undefined;
  const rows = pages.shown?.flatMap((page) => page.rows) ?? [];
  // While the pointer is there, rows neither come nor go; the cells of those that are shown are the newest.
  const newest = useMemo(() => new Map(table.data?.pages.flatMap((page) => page.rows).map((row) => [row.object.metadata.uid ?? "", row])), [table.data]);
  const shown = held ? rows.map((row) => newest.get(row.object.metadata.uid ?? "") ?? row) : rows;
  const moved = pages.stale && (rows.length !== newest.size || rows.some((row) => !newest.has(row.object.metadata.uid ?? "")));

  return (
    <div className={open ? "split" : undefined}>
      <div className="list">
        <div className="title"><div><h1>{title}</h1><Counting kind={kind} namespace={namespace} /></div></div>
        {kind.plural === "nodes" && <NodesMap />}
        <FilterField kind={kind} value={q} wrong={wrong} count={rows.length} more={table.hasNextPage} onChange={(value) => search({ q: value || undefined })} />
        {forbidden && <Forbidden kind={kind} error={forbidden} />}
        {table.error && !wrong && !forbidden && <Failure error={table.error} again={() => void table.refetch()} />}
        {table.isPending && <Skeleton rows={8} />}
        {moved && <button type="button" className="plain stale" onClick={pages.show}>{say("list.stale")}</button>}
        {pages.shown?.[0] && rows.length === 0 && <Empty kind={kind} filtered={q !== ""} onClear={() => search({ q: undefined })} />}
        {pages.shown?.[0] && rows.length > 0 && (
          <div onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}>
            <Rows
              kind={kind} columns={pages.shown[0].columnDefinitions} rows={shown} namespace={namespace} sort={sort} open={open}
              onSort={(by) => search({ sort: by })} onOpen={(key) => search({ open: key })}
            />
          </div>
        )}
        {table.hasNextPage && <button type="button" className="btn more" onClick={() => void table.fetchNextPage()}>{say("list.more.load")}</button>}
      </div>
      {open && <Drawer kind={kind} open={open} rows={shown} onOpen={(key) => search({ open: key })} />}
    </div>
  );
}

function NodesMap() {
  const nodes = useObjects("nodes");
  const pools = useObjects("nodepools");
  const pods = useObjects("pods");
  const shown = useMemo(() => model(nodes, pools, pods, pods.length > 0), [nodes, pools, pods]);
  if (nodes.length === 0) return null;
  return <section className="panel spaced"><NodeMap shown={shown} numbers={false} /></section>;
}

function Forbidden({ kind, error }: { kind: Kind; error: Error }) {
  const say = useSay();
  return (
    <div className="blank">
      <h2>{say("forbidden.title", { kind: say(`kind.${kind.plural}`) })}</h2>
      <p className="say">{say("forbidden.body")}</p>
      <p className="sub" lang="en">{error.message}</p>
      <Command text={`kubectl auth can-i list ${kind.plural}`} />
    </div>
  );
}

function Empty({ kind, filtered, onClear }: { kind: Kind; filtered: boolean; onClear: () => void }) {
  const say = useSay();
  const name = say(`kind.${kind.plural}`);
  if (filtered) return <Nothing>{say("list.noMatch")} <button type="button" className="plain" onClick={onClear}>{say("list.clear")}</button></Nothing>;
  return (
    <div className="blank">
      <p className="say">{say("list.none", { kind: name })}</p>
      <p className="sub">{say("list.start")}</p>
      <Command text={`kubectl explain ${kind.kubectl} --recursive`} />
    </div>
  );
}

function Events() {
  const say = useSay();
  const { ns, q = "" } = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  const events = useObjects("events", ns);
  const kind = kindOf("events");
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = events.filter((event) => {
    const text = [event.involvedObject.kind, event.involvedObject.namespace, event.involvedObject.name, event.reason, event.message, event.type].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  useTitle(say("kind.events"));
  if (!kind) return null;
  return (
    <>
      <div className="title"><div><h1>{say("kind.events")}</h1><p className="sub">{say("list.total", { total: events.length })}</p></div></div>
      <FilterField kind={kind} value={q} wrong={undefined} count={matching.length} more={false} onChange={(value) => void navigate({ to: ".", search: (before) => ({ ...before, q: value || undefined }), replace: true })} />
      <section className="panel"><EventTable events={matching} limit={500} /></section>
    </>
  );
}
