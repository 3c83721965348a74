import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { objectPath, read } from "../api/client";
import type { Description, KubeObject } from "../api/types";
import { Action, DoesTheSame, Failure } from "../components/parts";
import { useSay } from "../i18n";
import { useObject } from "../live/hooks";
import { store } from "../live/store";
import { curl, orders, type Order, type Target } from "./commands";
import { coversLoss, deletionAt, type Fate, type Loss } from "./fate";
import { Goes } from "./Goes";
import type { Deed } from "./list";
import { useRefused } from "./useHindrance";
import { useOrder } from "./useOrder";

/** Shows what will be sent before it is, and for a deletion what goes and what stays. Its focus begins on what changes nothing. */
export function Confirm({ deed, target, onClose }: { deed: Deed; target: Target; onClose: () => void }) {
  const say = useSay();
  const { run, busy, failed } = useOrder();
  const [consent, setConsent] = useState<Loss>();
  const [order, setOrder] = useState(deed.order);
  const cancel = useRef<HTMLButtonElement>(null);
  const deletes = deed.key === "action.delete";
  const object: KubeObject | undefined = useObject(target.kind.plural, target.namespace, target.name);
  const deletion = deletes ? deletionAt(target, object) : undefined;
  const loss = deletion?.loss;
  // What is lost can grow while the dialog is open: then it is ticked anew.
  const ticked = loss !== undefined && coversLoss(consent, loss);
  // A right, or the stream, can go while the dialog is open.
  const refused = useRefused(target);
  const kept = refused("patch");
  const name = target.namespace ? `${target.namespace}/${target.name}` : target.name;
  const policy = deletion?.keepable;
  const act = async () => { if (await run(order, say(deed.key), name, { undo: deed.undo })) onClose(); };
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{deletes ? say("delete.title", { name }) : `${say(deed.key)}: ${name}`}</Dialog.Title></header>
          <div className="body">
            {deed.warning && <p>{say(deed.warning, deed.values)}</p>}
            {deletion?.about && <p className="sub">{say(deletion.about)}</p>}
            {deletes && <Fates target={target} name={name} fates={deletion?.fates ?? []} />}
            {deed.lasting && <Lasting deed={deed} onOrder={setOrder} />}
            <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
            {policy && (
              <p className="small sub">{say("delete.keep", { policy })} <button type="button" className="plain" aria-disabled={kept !== undefined} title={kept} onClick={() => { if (kept === undefined) void run(orders.keep(target, policy), say("delete.kept", { policy }), name); }}>{say("delete.keepNow")}</button></p>
            )}
            {failed && <Failure error={failed} />}
          </div>
          <footer>
            {loss && <label className="row tick"><input type="checkbox" checked={ticked} onChange={(event) => setConsent(event.target.checked ? loss : undefined)} />{say(loss.key, loss.values)}</label>}
            <button type="button" className="btn" ref={cancel} onClick={onClose}>{say("action.cancel")}</button>
            {deletes
              ? <Action label={`${say("action.delete")} ${target.name}`} danger solid busy={busy} disabled={refused(deed.right)} waits={loss !== undefined && !ticked} onClick={() => void act()} />
              : <Action label={say(deed.key)} primary busy={busy} disabled={refused(deed.right)} onClick={() => void act()} />}
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** What goes and what stays, with what the API server says that the object owns. */
function Fates({ target, name, fates }: { target: Target; name: string; fates: readonly Fate[] }) {
  const say = useSay();
  const owned = useQuery({
    queryKey: ["describe", target.kind.plural, target.namespace ?? "", target.name],
    queryFn: ({ signal }) => read<Description>(`/v1${objectPath(target.kind.plural, target.namespace, target.name)}/describe`, { signal }),
  });
  const children = (owned.data?.children.length ?? 0) + (owned.data?.leftOut ?? 0);
  const owns = children > 0 && !["nodes", "nodepools"].includes(target.kind.plural);
  const all = [
    { goes: true, text: say("delete.self", { kind: target.kind.kind, name }) },
    ...(owns ? [{ goes: true, text: say("delete.more", { count: children }) }] : []),
    ...fates.map((fate) => ({ goes: fate.goes, text: say(fate.key, fate.values) })),
  ].sort((one, other) => Number(other.goes) - Number(one.goes));
  return (
    <ul className="fate">
      {all.map(({ goes, text }) => (
        <li key={text}><Goes goes={goes} />{text}</li>
      ))}
    </ul>
  );
}

const hours = [1, 4, 12, 24] as const;

/** How long something lasts: until somebody ends it, or some hours. */
function Lasting({ deed, onOrder }: { deed: Deed; onOrder: (order: Order) => void }) {
  const say = useSay();
  const choose = (value: string) => onOrder(value === "" ? deed.order : (deed.lasting?.(Number(value)) ?? deed.order));
  return (
    <label className="row">{say("pause.until")}
      <span className="field"><select className="bareselect" onChange={(event) => choose(event.target.value)}>
        <option value="">{say("pause.open")}</option>
        {hours.map((each) => <option key={each} value={each}>{say("pause.hours", { count: each })}</option>)}
      </select></span>
    </label>
  );
}
