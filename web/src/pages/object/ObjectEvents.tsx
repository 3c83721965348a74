import { useMemo } from "react";
import { useObjects } from "../../live/hooks";
import type { Kind } from "../../kinds/registry";
import { EventTable } from "../parts/EventTable";

/** The events about one object, from the stream. */
export function useObjectEvents(kind: Kind, namespace: string | undefined, name: string) {
  const all = useObjects("events");
  return useMemo(() => all.filter(({ involvedObject: of }) => of.kind === kind.kind && of.name === name && (of.namespace ?? "") === (namespace ?? "")), [all, kind, namespace, name]);
}

export function ObjectEvents({ kind, namespace, name, brief = false }: { kind: Kind; namespace: string | undefined; name: string; brief?: boolean }) {
  const events = useObjectEvents(kind, namespace, name);
  return <EventTable events={events} of={`${kind.kind}/${namespace ?? ""}/${name}`} limit={brief ? 5 : 200} object={false} brief={brief} />;
}
