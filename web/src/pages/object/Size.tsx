import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { curl, orders } from "../../actions/commands";
import { targetOf, useOrder } from "../../actions/useOrder";
import { may, useRights } from "../../shell/session";
import type { KubeObject } from "../../api/types";
import { Bar } from "../../components/Bar";
import { Action, DoesTheSame, Panel } from "../../components/parts";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import { kindOf } from "../../kinds/registry";
import { useCut } from "../../live/useCut";
import { offerSize, sizeKey } from "../parts/sizing";

/** The stepper: changes are local until Enter or Apply; Esc returns. What is typed stays when the object changes meanwhile. */
export function Size({ plural, object, size, available, updated, room }: { plural: "podsets" | "deployments"; object: KubeObject; size: number; available: number; updated: number; room?: { pool: string; pods: number } | undefined }) {
  const say = useSay();
  const cut = useCut();
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
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") apply();
    else if (event.key === "Escape") setWanted(undefined);
    else if (event.key === "ArrowUp") setWanted(value + 1);
    else if (event.key === "ArrowDown") setWanted(Math.max(0, value - 1));
    else return;
    event.preventDefault();
  };
  return (
    <Panel title={say("size.title")} sub={say("size.sub", { available, size, updated })}>
      <Bar className="row wrap sizing">
        <span className="step">
          <button type="button" aria-label={say("size.less")} onClick={() => setWanted(Math.max(0, value - 1))}><Icon name="minus" /></button>
          <input ref={input} data-size="" inputMode="numeric" aria-label={say("size.value")} value={value} onChange={(event) => { const typed = Number(event.target.value); if (Number.isInteger(typed) && typed >= 0 && typed < 100_000) setWanted(typed); }} onKeyDown={press} />
          <button type="button" aria-label={say("size.more")} onClick={() => setWanted(value + 1)}><Icon name="plus" /></button>
        </span>
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
