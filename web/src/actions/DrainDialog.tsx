import { Dialog } from "@base-ui/react/dialog";
import { skipToken, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { bodyOf } from "../api/client";
import { whilePassing } from "../api/passing";
import { Action, DoesTheSame, Failure, Skeleton } from "../components/parts";
import { useSay } from "../i18n";
import { store } from "../live/store";
import { Shape } from "../status/shapes";
import { curl, type Order, orders, type Target } from "./commands";
import { type Drain, foresee, goesOn, has, type Part, partsOf, sendDrain } from "./drain";
import { Goes } from "./Goes";
import type { Deed } from "./list";
import { useRefused } from "./useHindrance";
import { useOrder } from "./useOrder";

/** As long as "kubectl drain" waits before it tries again what a budget keeps. */
const pause = 5_000;

/** How many names of a part are shown before it folds. */
const most = 8;

/**
 * Drains a node: first it says what would become of each pod, then it evicts them, again and again while that can help, and says what has become of
 * each. It ends with the dialog: nothing else evicts.
 */
export function DrainDialog({ deed, target, onClose }: { deed: Deed; target: Target; onClose: () => void }) {
  const say = useSay();
  const cancel = useRef<HTMLButtonElement>(null);
  const { run, busy, failed } = useOrder();
  const [alone, setAlone] = useState(false);
  const [emptyDirs, setEmptyDirs] = useState(false);
  const [sent, setSent] = useState<{ order: Order; turn: number; first: Drain }>();
  const [stopped, setStopped] = useState(false);
  const order = orders.drain(target, { alone, emptyDirs });
  const refused = useRefused(target)("patch");
  const foreseen = useQuery({
    queryKey: ["drain", order], queryFn: () => foresee(order), enabled: sent === undefined,
    placeholderData: (before) => before, staleTime: Infinity, gcTime: 0, retry: false, refetchInterval: whilePassing,
  });
  const further = useQuery({
    queryKey: ["draining", sent?.order, sent?.turn], queryFn: sent ? () => sendDrain(sent.order) : skipToken, initialData: sent?.first, enabled: !stopped && refused === undefined,
    staleTime: Infinity, gcTime: 0, retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false, refetchIntervalInBackground: true,
    refetchInterval: ({ state }) => (state.data !== undefined && goesOn(state.data) ? (state.error === null ? pause : whilePassing({ state })) : false),
  });
  const drain = sent ? (further.data ?? sent.first) : foreseen.data;
  const error = failed ?? (sent ? further.error : foreseen.error);
  const done = sent !== undefined && drain?.remaining === 0;
  const ended = sent !== undefined && (stopped || drain === undefined || !goesOn(drain) || (further.error !== null && whilePassing({ state: further }) === false));
  // What is over must not be sent again with everything else that a new session asks for anew: the node may be in use again.
  useEffect(() => { if (ended) setStopped(true); }, [ended]);
  const active = busy || (sent !== undefined && !ended);
  const begin = async () => {
    const answer = await run(order, say(deed.key), target.name, { quiet: true });
    if (!answer) return;
    const first = await bodyOf<Drain>(answer);
    setStopped(false);
    setSent((before) => ({ order, first, turn: (before?.turn ?? 0) + 1 }));
  };
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !active && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{`${say(deed.key)}: ${target.name}`}</Dialog.Title></header>
          <div className="body">
            <p>{say("drain.about")}</p>
            {drain ? <Pods parts={partsOf(drain)} /> : !error && <Skeleton rows={3} />}
            {drain?.budgetsKnown === false && !sent && <p className="small sub">{say("drain.budgets")}</p>}
            {(alone || has(drain, "Unmanaged")) && <Choice text={say("drain.alone")} on={alone} off={active} onChange={setAlone} />}
            {(emptyDirs || has(drain, "LocalData")) && <Choice text={say("drain.emptyDirs")} on={emptyDirs} off={active} onChange={setEmptyDirs} />}
            {active && drain && <p className="sub">{say("drain.active", { count: drain.remaining })}</p>}
            <div role="status">{done ? say("drain.done") : ended && !busy ? say("drain.ended", { count: drain?.remaining ?? 0 }) : ""}</div>
            <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
            {error && <Failure error={error} />}
          </div>
          <footer>
            {/* While it goes on, closing would end it without a word. */}
            <button type="button" className="btn" ref={cancel} onClick={active ? () => setStopped(true) : onClose}>{say(active ? "bulk.stop" : sent ? "bulk.close" : "action.cancel")}</button>
            {!done && <Action label={say(deed.key)} danger solid busy={active} disabled={refused} waits={drain === undefined} onClick={() => void begin()} />}
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Something that is lost, and has to be chosen. */
function Choice({ text, on, off, onChange }: { text: string; on: boolean; off: boolean; onChange: (on: boolean) => void }) {
  return <label className="row"><input type="checkbox" checked={on} disabled={off} onChange={(event) => onChange(event.target.checked)} />{text}</label>;
}

/** The pods of the node by what becomes of them. */
function Pods({ parts }: { parts: readonly Part[] }) {
  const say = useSay();
  if (parts.length === 0) return <p className="sub">{say("drain.empty")}</p>;
  return parts.map(({ key, fate, pods }) => (
    <details key={key} className="small" open={fate !== "stays" && pods.length <= most}>
      <summary>{say(key, { count: pods.length })}</summary>
      <ul className="fate">
        {pods.map(({ uid, namespace, name, budget, detail }) => (
          <li key={uid}>
            {fate === "inTheWay" ? <Shape name="stalled" /> : <Goes goes={fate === "goes"} />}
            <span><code>{namespace}/{name}</code>{budget && <span className="sub"> {say("drain.budget", { name: budget })}</span>}{detail && <span className="sub said" lang="en"> {detail}</span>}</span>
          </li>
        ))}
      </ul>
    </details>
  ));
}
