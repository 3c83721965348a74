import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useSay } from "../../i18n";
import { kindOf } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { NotFound } from "../NotFound";
import { EventTable } from "../parts/EventTable";
import { useTitle } from "../../live/needs";
import type { Filter } from "./filter";
import { FilterField } from "./FilterField";
import { List } from "./List";

export function ListPage() {
  const { kind: plural } = useParams({ from: "/$kind" });
  const kind = kindOf(plural);
  if (!kind) return <NotFound />;
  return kind.plural === "events" ? <Events /> : <List key={kind.plural} kind={kind} />;
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
  const onFilter = useCallback((value: Filter) => void navigate({ to: ".", search: (before) => ({ ...before, q: value.words || undefined }), replace: true }), [navigate]);
  useTitle(say("kind.events"));
  if (!kind) return null;
  return (
    <>
      <div className="title"><div><h1>{say("kind.events")}</h1><p className="sub">{say("list.total", { total: events.length })}</p></div></div>
      <FilterField kind={kind} value={{ words: q, labels: "", fields: "" }} wrong={undefined} count={say("list.count", { shown: matching.length, total: events.length })} onChange={onFilter} />
      <section className="panel"><EventTable events={matching} limit={500} /></section>
    </>
  );
}
