import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { objectPath, read } from "../api/client";
import type { Description } from "../api/types";
import { Action, DoesTheSame, Failure } from "../components/parts";
import { useSay } from "../i18n";
import { curl, type Order, type Target } from "./commands";
import { type Deed, losesData } from "./list";
import { useOrder } from "./useOrder";

/** Shows what will be sent before it is, and for a deletion what goes and what stays. Its focus begins on what changes nothing. */
export function Confirm({ deed, target, onClose }: { deed: Deed; target: Target; onClose: () => void }) {
  const say = useSay();
  const { run, busy, failed } = useOrder();
  const [ticked, setTicked] = useState(false);
  const [order, setOrder] = useState(deed.order);
  const cancel = useRef<HTMLButtonElement>(null);
  const deletes = deed.key === "action.delete";
  const loses = deletes && losesData(target);
  const owned = useQuery({
    queryKey: ["describe", target.kind.plural, target.namespace ?? "", target.name], enabled: deletes,
    queryFn: ({ signal }) => read<Description>(`/v1${objectPath(target.kind.plural, target.namespace, target.name)}/describe`, { signal }),
  });
  const name = target.namespace ? `${target.namespace}/${target.name}` : target.name;
  const children = (owned.data?.children.length ?? 0) + (owned.data?.leftOut ?? 0);
  const ownsThem = deletes && children > 0 && !["nodes", "nodepools"].includes(target.kind.plural);
  const act = async () => { if (await run(order, say(deed.key), name, deed.undo)) onClose(); };
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{deletes ? say("delete.title", { name }) : `${say(deed.key)}: ${name}`}</Dialog.Title></header>
          <div className="body">
            {deed.warning && <p>{say(deed.warning)}</p>}
            {deletes && (
              <ul className="fate">
                <li><span className="bad" aria-label={say("confirm.gone")} role="img">✕</span>{say("delete.self", { kind: target.kind.kind, name })}</li>
                {ownsThem && <li><span className="bad" aria-label={say("confirm.gone")} role="img">✕</span>{say("delete.owned", { count: children })}</li>}
                <li><span className="ok" aria-label={say("confirm.stays")} role="img">✓</span>{say("delete.images")}</li>
              </ul>
            )}
            {loses && <label className="row"><input type="checkbox" checked={ticked} onChange={(event) => setTicked(event.target.checked)} />{say("confirm.loss", { name })}</label>}
            {deed.lasting && <Lasting deed={deed} onOrder={setOrder} />}
            <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
            {failed && <Failure error={failed} />}
          </div>
          <footer>
            <button type="button" className="btn" ref={cancel} onClick={onClose}>{say("action.cancel")}</button>
            {deletes
              ? <button type="button" className="btn danger solid" aria-disabled={busy || (loses && !ticked)} onClick={() => { if (!busy && (!loses || ticked)) void act(); }}>{say("action.delete")} {target.name}</button>
              : <Action label={say(deed.key)} primary busy={busy} onClick={() => void act()} />}
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
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
