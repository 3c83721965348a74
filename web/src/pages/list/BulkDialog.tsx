import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState } from "react";
import { isClash, taken } from "../../actions/clash";
import { curl } from "../../actions/commands";
import { losesData } from "../../actions/list";
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
export function BulkDialog({ kind, bulk, onClose, onDone }: { kind: Kind; bulk: Bulk; onClose: () => void; onDone: () => void }) {
  const say = useSay();
  const cancel = useRef<HTMLButtonElement>(null);
  const [ticked, setTicked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  // What was selected when the dialog opened: the list behind it goes on.
  const [deeds] = useState(bulk.deeds);
  const deletes = bulk.key === "action.delete";
  const loses = deletes && deeds.some(({ target }) => losesData(target));
  const label = say(bulk.key);
  const count = deeds.length;
  const ended = results.size === count;
  const clashes = ended && !busy ? deeds.filter(({ target }) => isClash(results.get(target.uid))) : [];
  /** Does it for all, or once more for some, with what others have set taken over. */
  const act = async (some: Bulk["deeds"] = deeds, over = false) => {
    setBusy(true);
    setResults((before) => new Map([...before].filter(([uid]) => over && !some.some(({ target }) => target.uid === uid))));
    let done = count - some.length;
    await eachOf(some, ({ deed: { order } }) => sendOrder(over ? taken(order) : order), ({ target }, failed) => {
      if (!failed) done++;
      setResults((before) => new Map(before).set(target.uid, failed ?? "done"));
    });
    setBusy(false);
    (done < count ? tellFailure : tell)(say("bulk.done", { action: label, done, count }));
    if (done === count) { onDone(); onClose(); }
  };
  const listed = ended || busy ? [...deeds].sort((a, b) => rank(results.get(a.target.uid)) - rank(results.get(b.target.uid))) : deeds;
  const off = busy || (loses && !ticked);
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !busy && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{say("bulk.title", { action: label, count, kind: say(`kind.${kind.plural}`) })}</Dialog.Title></header>
          <div className="body">
            {bulk.warning && <p>{say(bulk.warning)}</p>}
            <ul className="fate">
              {listed.slice(0, named).map(({ target }) => <One key={target.uid} name={target.namespace ? `${target.namespace}/${target.name}` : target.name} result={results.get(target.uid)} begun={busy || ended} deletes={deletes} />)}
              {count > named && <li className="sub">{say("bulk.rest", { count: count - named })}</li>}
            </ul>
            {loses && !ended && <label className="row"><input type="checkbox" checked={ticked} onChange={(event) => setTicked(event.target.checked)} />{say("bulk.loss", { count })}</label>}
            <DoesTheSame
              kubectl={together(deeds.map(({ target, deed }) => ({ target, order: deed.order }))).join("\n")}
              curl={deeds.slice(0, named).map(({ deed }) => curl(deed.order)).join("\n")}
            />
          </div>
          <footer>
            <button type="button" className="btn" ref={cancel} onClick={onClose}>{say(ended ? "bulk.close" : "action.cancel")}</button>
            {clashes.length > 0 && <Action label={say("bulk.take", { count: clashes.length })} onClick={() => void act(clashes, true)} />}
            {deletes && !ended
              ? <button type="button" className="btn danger solid" aria-disabled={off} onClick={() => { if (!off) void act(); }}>{say("bulk.button", { action: label, count })}</button>
              : !ended && <Action label={say("bulk.button", { action: label, count })} primary busy={busy} onClick={() => void act()} />}
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

function One({ name, result, begun, deletes }: { name: string; result: Result | undefined; begun: boolean; deletes: boolean }) {
  const say = useSay();
  const message = result instanceof Error ? (result instanceof Refusal ? [result.message, ...(result.problem.errors ?? []).map((each) => [each.location, each.message].filter(Boolean).join(": "))].join(" ") : result.message) : undefined;
  return (
    <li>
      {result === undefined && !begun && deletes && <span className="bad" aria-label={say("confirm.gone")} role="img">✕</span>}
      {result === undefined && begun && <i className="todo" aria-label={say("bulk.waits")} role="img" />}
      {result === "done" && <><Shape name="ready" /><span className="sr">{say("bulk.was")}</span></>}
      {message !== undefined && <Shape name="stalled" />}
      <span>{name}{message !== undefined && <span className="small bad said" lang="en"> {message}</span>}</span>
    </li>
  );
}
