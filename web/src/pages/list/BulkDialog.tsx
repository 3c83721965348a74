import { Dialog } from "@base-ui/react/dialog";
import { useMemo, useRef, useState } from "react";
import { isClash, taken } from "../../actions/clash";
import { curl } from "../../actions/commands";
import { coversLoss, type Deletion, deletionAt, type Loss, lossOf } from "../../actions/fate";
import { Action, DoesTheSame } from "../../components/parts";
import { tell } from "../../components/toasts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { store } from "../../live/store";
import { Stepper } from "../parts/Stepper";
import { type Bulk, together } from "./bulk";
import { BulkLine } from "./BulkLine";
import { type Result, takeBack, useSending } from "./useSending";

/** How many names are listed before the rest is a number. */
const named = 10;

/** One dialog for all that is selected: their names, the commands, and then the result of each. */
export function BulkDialog({ kind, bulk, refused, onClose, onDone }: { kind: Kind; bulk: Bulk; refused: string | undefined; onClose: () => void; onDone: () => void }) {
  const say = useSay();
  const cancel = useRef<HTMLButtonElement>(null);
  const [consent, setConsent] = useState<Loss>();
  const { results, what, busy, stopped, send, halt } = useSending();
  // What was selected when the dialog opened: the list behind it goes on.
  const [deeds, setDeeds] = useState(bulk.deeds);
  const { sizing } = bulk;
  const [size, setSize] = useState(sizing?.begin ?? 0);
  const input = useRef<HTMLInputElement>(null);
  const deletes = bulk.key === "action.delete";
  const begun = busy || results.size > 0;
  // What is lost is that of now until it is sent: then it goes, one after the other.
  const objects = useObjects(kind.plural);
  const losing = useRef<ReadonlyMap<string, Deletion>>(new Map());
  const deletions = useMemo(() => {
    void objects;
    if (deletes && !begun) losing.current = new Map(deeds.map(({ target }) => [target.uid, deletionAt(target, store.get(target.kind.plural, target.namespace, target.name))]));
    return losing.current;
  }, [objects, deletes, begun, deeds]);
  const abouts = new Set([...deletions.values()].flatMap(({ about }) => about ?? []));
  const loss = lossOf([...deletions.values()]);
  const ticked = loss !== undefined && coversLoss(consent, loss);
  const label = say(bulk.key);
  const count = deeds.length;
  const ended = results.size === count;
  const unsent = deeds.filter(({ target }) => !results.has(target.uid));
  const clashes = ended && !busy && what === "do" ? deeds.filter(({ target }) => isClash(results.get(target.uid))) : [];
  const done = deeds.filter(({ target }) => results.get(target.uid) === "done");
  const same = sizing && !begun && deeds.every(({ size: of }) => of?.before === of?.after) ? say("bulk.same") : undefined;
  const outcome = (succeeded: number) => say("bulk.done", { action: label, done: succeeded, count });
  const undoable = deeds.every(({ deed }) => deed.undo !== undefined);
  /** Does it for all that it was not sent for yet, or once more for some, with what others have set taken over. */
  const act = async (some: Bulk["deeds"] = unsent, over = false) => {
    // A size that is taken back is the one that it has in this moment.
    const all = sizing && !begun ? sizing.to(size) : deeds;
    setDeeds(all);
    const { whole, told } = await send("do", begun ? some : all, ({ order }) => (over ? taken(order) : order));
    if (!whole) return; // stopped: the dialog stays, and says what has become of each
    if ([...told.values()].some((result) => result !== "done")) return; // the dialog stays, and says why
    tell(outcome(count), undoable ? () => void takeBack(all, say) : undefined);
    onDone();
    onClose();
  };
  const undo = () => send("undo", done, (deed) => deed.undo ?? deed.order);
  const resize = (to: number) => {
    if (!sizing || begun) return;
    setSize(to);
    setDeeds(sizing.to(to));
  };
  const disabled = refused ?? same;
  const press = (key: string) => {
    if (key !== "Enter") return false;
    if (!busy && !ended && disabled === undefined) void act();
    return true;
  };
  // Those that lose something, and afterwards those that have failed, are among the names.
  const first = ({ target: { uid } }: Bulk["deeds"][number]) => (begun ? rank(results.get(uid)) : deletions.get(uid)?.loss ? 0 : 1);
  const listed = [...deeds].sort((a, b) => first(a) - first(b));
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !busy && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={sizing ? input : cancel}>
          <header><Dialog.Title render={<h2 />}>{say("bulk.title", { action: label, count, kind: say(`kind.${kind.plural}`) })}</Dialog.Title></header>
          <div className="body">
            {bulk.warning && <p>{say(bulk.warning)}</p>}
            {[...abouts].map((about) => <p key={about} className="sub">{say(about)}</p>)}
            {sizing && <div><Stepper ref={input} value={size} readOnly={begun} onValue={resize} onKey={press} onFocus={(event) => event.currentTarget.select()} /></div>}
            <ul className="fate">
              {listed.slice(0, named).map(({ target, size: sizes }) => <BulkLine key={target.uid} name={target.namespace ? `${target.namespace}/${target.name}` : target.name} result={results.get(target.uid)} begun={begun} deletion={deletions.get(target.uid)} sizes={sizes} />)}
              {count > named && <li className="sub">{say("bulk.rest", { count: count - named })}</li>}
            </ul>
            {stopped && !busy && !ended && what === "do" && <p role="status">{say("bulk.stopped", { count: unsent.length })}</p>}
            {ended && !busy && what === "do" && <p role="status">{outcome(done.length)}</p>}
            {loss && !ended && <label className="row"><input type="checkbox" checked={ticked} onChange={(event) => setConsent(event.target.checked ? loss : undefined)} />{say(loss.key, loss.values)}</label>}
            <DoesTheSame
              kubectl={together(deeds.map(({ target, deed }) => ({ target, order: deed.order }))).join("\n")}
              curl={deeds.slice(0, named).map(({ deed }) => curl(deed.order)).join("\n")}
            />
          </div>
          <footer>
            {/* While it is sent, closing would only hide it. */}
            <button type="button" className="btn" ref={cancel} onClick={busy ? halt : onClose}>{say(busy ? (stopped ? "bulk.stopping" : "bulk.stop") : begun ? "bulk.close" : "action.cancel")}</button>
            {clashes.length > 0 && <Action label={say("bulk.take", { count: clashes.length })} disabled={refused} onClick={() => void act(clashes, true)} />}
            {undoable && done.length > 0 && !(busy && what === "do") && <Action label={say("bulk.button", { action: say("action.undo"), count: done.length })} busy={busy} disabled={refused} onClick={() => void undo()} />}
            {!ended && !(busy && what === "undo") && <Action label={say("bulk.button", { action: label, count: busy ? count : unsent.length })} danger={deletes} primary={!deletes} solid={deletes} busy={busy} disabled={disabled} waits={loss !== undefined && !ticked} onClick={() => void act()} />}
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
