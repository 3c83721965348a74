import { useEffect, useRef, useState } from "react";
import { curl, orders } from "../../actions/commands";
import { targetOf, useOrder } from "../../actions/useOrder";
import { may, useRights } from "../../shell/session";
import type { KubeObject } from "../../api/types";
import { Bar } from "../../components/Bar";
import { Action, DoesTheSame, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import { kindOf } from "../../kinds/registry";
import { useCut } from "../../live/useCut";
import { offerSize, sizeKey } from "../parts/sizing";
import { Stepper } from "../parts/Stepper";

/** The stepper: changes are local until Enter or Apply; Esc returns. What is typed stays when the object changes meanwhile. */
export function Size({ plural, object, size, available, updated, room }: { plural: "podsets" | "deployments"; object: KubeObject; size: number; available: number; updated: number; room?: { pool: string; pods: number } | undefined }) {
  const say = useSay();
  const cut = useCut(plural);
  const [wanted, setWanted] = useState<number>();
  const value = wanted ?? size;
  const kind = kindOf(plural);
  const rights = useRights(object.metadata.namespace);
  const { run, busy } = useOrder();
  const input = useRef<HTMLInputElement>(null);
  const key = sizeKey(plural, object.metadata.namespace, object.metadata.name ?? "");
  useEffect(() => offerSize(key, () => { input.current?.focus(); input.current?.select(); }), [key]);
  useEffect(() => { if (wanted === size) setWanted(undefined); }, [wanted, size]);
  if (!kind) return null;
  const target = targetOf(kind, object);
  const order = orders.scale(target, value);
  const disabled = cut ?? (may(rights, plural, target.namespace, "scale") ? undefined : say("action.refused", { verb: "scale", kind: say(`kind.${plural}`) }));
  const apply = () => {
    if (wanted === undefined || disabled) return;
    run(order, say("action.scale"), target.name, { undo: orders.scale(target, size) }).then((done) => { if (done) setWanted(undefined); }, () => undefined);
  };
  const press = (key: string) => {
    if (key === "Enter") apply();
    else if (key === "Escape") setWanted(undefined);
    else return false;
    return true;
  };
  return (
    <Panel title={say("size.title")} sub={say("size.sub", { available, size, updated })}>
      <Bar className="row wrap sizing">
        <Stepper ref={input} data-size="" value={value} onValue={setWanted} onKey={press} />
        <Bars value={value} available={available} />
        {wanted !== undefined && <Action label={say("size.apply", { size: value })} disabled={disabled} busy={busy} onClick={apply} />}
      </Bar>
      <p className="small sub">{room && value > room.pods && <span className="warn">{say("size.room", { pods: room.pods, pool: room.pool })} </span>}{disabled ?? say("size.keys")}</p>
      <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
    </Panel>
  );
}

/** One bar for each pod up to 24, above that one bar. */
function Bars({ value, available }: { value: number; available: number }) {
  if (value > 24) return <span className="bar wide"><i style={{ width: `${Math.min(100, (100 * available) / value)}%` }} /></span>;
  return <span className="podbars" aria-hidden="true">{Array.from({ length: value }, (_, index) => <span key={index} className={index < available ? "there" : "missing"} />)}</span>;
}
