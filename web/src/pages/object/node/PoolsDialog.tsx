import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useMemo, useRef, useState } from "react";
import { curl } from "../../../actions/commands";
import { useRefused } from "../../../actions/useHindrance";
import { targetOf, useOrder } from "../../../actions/useOrder";
import type { Objects } from "../../../api/types";
import { Action, DoesTheSame, Failure, Nothing, Skeleton } from "../../../components/parts";
import { tell } from "../../../components/toasts";
import { useSay } from "../../../i18n";
import type { Kind } from "../../../kinds/registry";
import { useObjects } from "../../../live/hooks";
import { store } from "../../../live/store";
import { useListsAll } from "../../../shell/session";
import { useWhy } from "../useWhy";
import { changeOf, deletedBy, type Place, placesOf, turned, wantedOf, type Wishes } from "./places";

/** Chooses the pools that a node is in, by its role labels, and says before what a choice does to what runs there. */
export function PoolsDialog({ kind, node, onClose }: { kind: Kind; node: Objects["nodes"]; onClose: () => void }) {
  const say = useSay();
  const cancel = useRef<HTMLButtonElement>(null);
  const pools = useObjects("nodepools");
  const why = useWhy(kind, node);
  const [wishes, setWishes] = useState<Wishes>(new Map());
  const [ordered, setOrdered] = useState<Wishes>();
  const { run, busy, failed } = useOrder();
  const name = node.metadata.name ?? "";
  const places = useMemo(() => placesOf(node, pools, why.data?.origins ?? []), [node, pools, why.data]);
  const target = targetOf(kind, node);
  const refused = useRefused(target)("patch");
  const wanted = wantedOf(places, wishes);
  const change = changeOf(target, node, places, wanted);
  const error = failed ?? why.error;
  const act = async () => {
    if (!change) return;
    setOrdered(wishes);
    if (await run(change.order, say("pools.edit"), name, { undo: change.undo })) onClose();
  };
  // What was ordered here and is so by now is done, although its answer was lost.
  const done = failed !== undefined && !busy && ordered !== undefined && changeOf(target, node, places, wantedOf(places, ordered)) === undefined;
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (!done) return;
    tell(say("action.done", { action: say("pools.edit"), name }));
    close.current();
  }, [done, say, name]);
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !store.ended) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={cancel}>
          <header><Dialog.Title render={<h2 />}>{say("pools.title", { name })}</Dialog.Title></header>
          <div className="body">
            {why.isPending ? <Skeleton rows={3} /> : places.length === 0 ? <Nothing>{say("pools.none")}</Nothing> : (
              <ul className="stack">{places.map((place) => <Choice key={place.name} place={place} node={name} on={wanted.has(place.name)} onTurn={() => setWishes((before) => turned(before, place))} />)}</ul>
            )}
            {change && <DoesTheSame kubectl={change.order.kubectl} curl={curl(change.order)} />}
            {error && <Failure error={error} />}
          </div>
          <footer>
            <button type="button" className="btn" ref={cancel} onClick={onClose}>{say("action.cancel")}</button>
            <Action label={say("pools.apply")} primary busy={busy} disabled={refused} waits={change === undefined || why.data === undefined} onClick={() => void act()} />
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** One pool, and what becomes of the node and its pods if that is chosen. */
function Choice({ place, node, on, onTurn }: { place: Place; node: string; on: boolean; onTurn: () => void }) {
  const say = useSay();
  const { name, by, pool } = place;
  const selected = by === "selection";
  const joins = on && by === undefined;
  const leaves = !on && by === "label";
  return (
    <li>
      <label className="row"><input type="checkbox" checked={on || selected} disabled={selected} onChange={onTurn} /><strong>{name}</strong>{selected && <span className="small dim">{say("pools.selected")}</span>}</label>
      {joins && <Joins place={place} node={node} />}
      {leaves && <p className="small sub">{say(pool.spec?.drain?.policy === "Evict" ? "pools.drained" : "pools.left")}</p>}
    </li>
  );
}

/** What comes with a pool. Pods are counted only by those who see all of them. */
function Joins({ place, node }: { place: Place; node: string }) {
  const say = useSay();
  const pods = useObjects("pods");
  const all = useListsAll("pods");
  const hard = place.taints.some(({ effect }) => effect === "NoExecute");
  const gone = useMemo(() => deletedBy(place, pods.filter((pod) => pod.spec?.nodeName === node)).length, [place, pods, node]);
  return (
    <>
      {place.taints.length > 0 && <p className="small sub">{say("pools.taints")} {place.taints.map(({ key, value, effect }) => <code key={`${key} ${effect}`} className="chip">{key}{value ? `=${value}` : ""}:{effect}</code>)}</p>}
      {hard && <p className="small warn">{all ? say("pools.deleted", { count: gone }) : say("pools.deletes")}</p>}
    </>
  );
}
