import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef } from "react";
import { query, read, Refusal } from "../../api/client";
import type { Objects } from "../../api/types";
import { useSay } from "../../i18n";
import { kindOf } from "../../kinds/registry";
import { useAnswered, useObjects } from "../../live/hooks";
import { NotFound } from "../NotFound";
import { EventTable } from "../parts/EventTable";
import { matching } from "../parts/events";
import { useTitle } from "../../live/needs";
import { useCalm } from "../../live/useCalm";
import { type Filter, joined, parse } from "./filter";
import { FilterField } from "./FilterField";
import { tooLong } from "./limits";
import { List } from "./List";

type Event = Objects["events"];

export function ListPage() {
  const { kind: plural } = useParams({ from: "/$kind" });
  const kind = kindOf(plural);
  if (!kind) return <NotFound />;
  return kind.plural === "events" ? <Events /> : <List key={kind.plural} kind={kind} />;
}

const none: ReadonlySet<string | undefined> = new Set();

/** How many events a selector chooses at most, the newest: as many as the API tells at once. */
const mostChosen = 10_000;

/** How often a value has become another one. */
function useTurns(value: unknown): number {
  const last = useRef({ value, turns: 0 });
  if (last.current.value !== value) last.current = { value, turns: last.current.turns + 1 };
  return last.current.turns;
}

/** The events that selectors choose: the server does, so that selectors mean what they do everywhere and its words say what is wrong. */
function useChosen(namespace: string | undefined, { labels, fields }: Filter, events: readonly Event[], enabled: boolean) {
  const wanted = enabled && labels + fields !== "";
  // A number, because a key is written out for each render: thousands of events would be.
  const turns = useTurns(useCalm(events, 1000));
  const chosen = useQuery({
    queryKey: ["events", namespace ?? "", labels, fields, turns], enabled: wanted, retry: false, gcTime: 0, placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { items, metadata } = await read<{ items: readonly Event[]; metadata: { remainingItemCount?: number } }>(
        `/v1/events${query({ ns: namespace, labelSelector: labels, fieldSelector: fields, fields: "metadata.uid", sort: "-created", limit: mostChosen })}`, { signal },
      );
      return { uids: new Set<string | undefined>(items.map((event) => event.metadata.uid)), older: metadata.remainingItemCount ?? 0 };
    },
  });
  const of = useAnswered(JSON.stringify([namespace, labels, fields]), wanted && (chosen.isPending || chosen.isPlaceholderData));
  return { of, chosen: wanted ? (chosen.data?.uids ?? none) : undefined, older: wanted ? (chosen.data?.older ?? 0) : 0, wrong: wanted && chosen.error instanceof Refusal ? chosen.error : undefined };
}

function Events() {
  const say = useSay();
  const { ns, q = "", l = "", f = "" } = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  const events = useObjects("events", ns);
  const kind = kindOf("events");
  const filter = useMemo(() => joined(parse(q), { words: "", labels: l, fields: f }), [q, l, f]);
  const { of, chosen, older, wrong } = useChosen(ns, filter, events, tooLong(filter) === undefined);
  const shown = useMemo(() => matching(events, chosen, filter.words), [events, chosen, filter.words]);
  const onFilter = useCallback((to: Filter) => void navigate({ to: ".", search: (before) => ({ ...before, q: to.words || undefined, l: to.labels || undefined, f: to.fields || undefined }), replace: true }), [navigate]);
  useTitle(say("kind.events"));
  if (!kind) return null;
  return (
    <>
      <div className="title"><div><h1>{say("kind.events")}</h1><p className="sub">{say("list.total", { total: events.length })}</p></div></div>
      <FilterField kind={kind} value={filter} wrong={wrong} count={say("list.count", { shown: shown.length, total: events.length })} onChange={onFilter} />
      <section className="panel"><EventTable events={shown} of={JSON.stringify([ns, filter.words, of])} limit={500} older={older} /></section>
    </>
  );
}
