import { useRef, useState } from "react";
import type { Order } from "../../actions/commands";
import type { Deed } from "../../actions/list";
import { sendOrder } from "../../actions/useOrder";
import { tell, tellFailure } from "../../components/toasts";
import type { Say } from "../../i18n";
import { type BulkDeed, eachOf } from "./bulk";

export type Result = "done" | Error;
type Results = ReadonlyMap<string, Result>;
type What = "do" | "undo";

/** Sends the orders of several, a few at a time. What has become of each is told as it is there, by its UID; what is what was sent last. */
export function useSending() {
  const [results, setResults] = useState<Results>(new Map());
  const [what, setWhat] = useState<What>("do");
  const [busy, setBusy] = useState(false);
  const [stopped, setStopped] = useState(false);
  const stop = useRef<AbortController>(undefined);
  /** Does it for some, or takes it back: what is taken back is as what was never sent. Says whether each was sent, and what has become of all. */
  const send = async (what: What, some: readonly BulkDeed[], orderOf: (deed: Deed) => Order): Promise<{ whole: boolean; told: Results }> => {
    const left = new Set(some.map(({ target }) => target.uid));
    const told = new Map(results);
    if (what === "do") for (const uid of left) told.delete(uid);
    const { signal } = (stop.current = new AbortController());
    setWhat(what);
    setBusy(true);
    setStopped(false);
    setResults(new Map(told));
    await eachOf(some, ({ deed }) => sendOrder(orderOf(deed)), ({ target: { uid } }, failed) => {
      left.delete(uid);
      if (failed) told.set(uid, failed);
      else if (what === "do") told.set(uid, "done");
      else told.delete(uid);
      setResults(new Map(told));
    }, { stopped: signal });
    setBusy(false);
    return { whole: left.size === 0, told };
  };
  const halt = () => { setStopped(true); stop.current?.abort(); };
  return { results, what, busy, stopped, send, halt };
}

/** Takes back what was done with several, each as it was, once nothing of it is open any more. */
export async function takeBack(deeds: readonly BulkDeed[], say: Say): Promise<void> {
  const failures: Error[] = [];
  await eachOf(deeds, ({ deed }) => sendOrder(deed.undo ?? deed.order), (_, failed) => { if (failed) failures.push(failed); });
  const text = say("bulk.done", { action: say("action.undo"), done: deeds.length - failures.length, count: deeds.length });
  if (failures.length > 0) tellFailure(text, failures[0]);
  else tell(text);
}
