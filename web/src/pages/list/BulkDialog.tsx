import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState } from "react";
import { isClash, taken } from "../../actions/clash";
import { curl } from "../../actions/commands";
import { type Deletion, deletionAt, lossOf } from "../../actions/fate";
import { Goes } from "../../actions/Goes";
import { sendOrder } from "../../actions/useOrder";
import { Refusal } from "../../api/client";
import { Action, DoesTheSame } from "../../components/parts";
import { tell, tellFailure } from "../../components/toasts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { store } from "../../live/store";
import { Shape } from "../../status/shapes";
import { type Bulk, eachOf, together } from "./bulk";

/** How many names are listed before the rest is a number. */
const named = 10;

type Result = "done" | Error;

/** One dialog for all that is selected: their names, the commands, and then the result of each. */
export function BulkDialog({ kind, bulk, refused, onClose, onDone }: { kind: Kind; bulk: Bulk; refused: string | undefined; onClose: () => void; onDone: () => void }) {
  const say = useSay();
  const cancel = useRef<HTMLButtonElement>(null);
  const [ticked, setTicked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [stopped, setStopped] = useState(false);
  const stop = useRef<AbortController>(undefined);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  // What was selected when the dialog opened: the list behind it goes on.
  const [deeds] = useState(bulk.deeds);
  const deletes = bulk.key === "action.delete";
  const [deletions] = useState(() => new Map(deletes ? deeds.map(({ target }): [string, Deletion] => [target.uid, deletionAt(target, store.get(target.kind.plural, target.namespace, target.name))]) : []));
  const abouts = new Set([...deletions.values()].flatMap(({ about }) => about ?? []));
  const loss = lossOf([...deletions.values()]);
  const label = say(bulk.key);
  const count = deeds.length;
  const begun = busy || results.size > 0;
  const ended = results.size === count;
  const unsent = deeds.filter(({ target }) => !results.has(target.uid));
  const clashes = ended && !busy ? deeds.filter(({ target }) => isClash(results.get(target.uid))) : [];
  /** Does it for all that it was not sent for yet, or once more for some, with what others have set taken over. */
  const act = async (some: Bulk["deeds"] = unsent, over = false) => {
    const again = new Set(some.map(({ target }) => target.uid));
    const left = new Set(again);
    const { signal } = (stop.current = new AbortController());
    setBusy(true);
    setStopped(false);
    setResults((before) => new Map([...before].filter(([uid]) => !again.has(uid))));
    let done = [...results].filter(([uid, result]) => result === "done" && !again.has(uid)).length;
    await eachOf(some, ({ deed: { order } }) => sendOrder(over ? taken(order) : order), ({ target }, failed) => {
      left.delete(target.uid);
      if (!failed) done++;
      setResults((before) => new Map(before).set(target.uid, failed ?? "done"));
    }, { stopped: signal });
    setBusy(false);
    if (left.size > 0) return; // stopped: the dialog stays, and says what has become of each
    (done < count ? tellFailure : tell)(say("bulk.done", { action: label, done, count }));
    if (done === count) { onDone(); onClose(); }
  };
  const halt = () => { setStopped(true); stop.current?.abort(); };
  // Those that lose something, and afterwards those that have failed, are among the names.
  const first = ({ target: { uid } }: Bulk["deeds"][number]) => (begun ? rank(results.get(uid)) : deletions.get(uid)?.loss ? 0 : 1);
  const listed = [...deeds].sort((a, b) => first(a) - first(b));
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !busy && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{say("bulk.title", { action: label, count, kind: say(`kind.${kind.plural}`) })}</Dialog.Title></header>
          <div className="body">
            {bulk.warning && <p>{say(bulk.warning)}</p>}
            {[...abouts].map((about) => <p key={about} className="sub">{say(about)}</p>)}
            <ul className="fate">
              {listed.slice(0, named).map(({ target }) => <One key={target.uid} name={target.namespace ? `${target.namespace}/${target.name}` : target.name} result={results.get(target.uid)} begun={begun} deletion={deletions.get(target.uid)} />)}
              {count > named && <li className="sub">{say("bulk.rest", { count: count - named })}</li>}
            </ul>
            {stopped && !busy && !ended && <p role="status">{say("bulk.stopped", { count: unsent.length })}</p>}
            {loss && !ended && <label className="row"><input type="checkbox" checked={ticked} onChange={(event) => setTicked(event.target.checked)} />{say(loss.key, loss.values)}</label>}
            <DoesTheSame
              kubectl={together(deeds.map(({ target, deed }) => ({ target, order: deed.order }))).join("\n")}
              curl={deeds.slice(0, named).map(({ deed }) => curl(deed.order)).join("\n")}
            />
          </div>
          <footer>
            {/* While it is sent, closing would only hide it. */}
            <button type="button" className="btn" ref={cancel} onClick={busy ? halt : onClose}>{say(busy ? (stopped ? "bulk.stopping" : "bulk.stop") : begun ? "bulk.close" : "action.cancel")}</button>
            {clashes.length > 0 && <Action label={say("bulk.take", { count: clashes.length })} disabled={refused} onClick={() => void act(clashes, true)} />}
            {!ended && <Action label={say("bulk.button", { action: label, count: busy ? count : unsent.length })} danger={deletes} primary={!deletes} solid={deletes} busy={busy} disabled={refused} waits={loss !== undefined && !ticked} onClick={() => void act()} />}
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Failures first: they are what somebody has to read. */
function rank(result: Result | undefined): number {
  return result instanceof Error ? 0 : result === undefined ? 1 : 2;
}

function One({ name, result, begun, deletion }: { name: string; result: Result | undefined; begun: boolean; deletion: Deletion | undefined }) {
  const say = useSay();
  const message = result instanceof Error ? (result instanceof Refusal ? [result.message, ...(result.problem.errors ?? []).map((each) => [each.location, each.message].filter(Boolean).join(": "))].join(" ") : result.message) : undefined;
  return (
    <li>
      {result === undefined && !begun && deletion && <Goes goes />}
      {result === undefined && begun && <i className="todo" aria-label={say("bulk.waits")} role="img" />}
      {result === "done" && <><Shape name="ready" /><span className="sr">{say("bulk.was")}</span></>}
      {message !== undefined && <Shape name="stalled" />}
      {result === undefined && !begun && deletion
        ? <div>{name}<ul className="fate small sub">{deletion.fates.map((fate) => { const text = say(fate.key, fate.values); return <li key={text}><Goes goes={fate.goes} />{text}</li>; })}</ul></div>
        : <span>{name}{message !== undefined && <span className="small bad said" lang="en"> {message}</span>}</span>}
    </li>
  );
}
