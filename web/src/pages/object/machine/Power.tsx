import { useEffect, useState } from "react";
import { curl, orders } from "../../../actions/commands";
import { useHindrance } from "../../../actions/useHindrance";
import { targetOf, useOrder } from "../../../actions/useOrder";
import type { Objects } from "../../../api/types";
import { Bar } from "../../../components/Bar";
import { Action, DoesTheSame, Failure, Panel, Segments } from "../../../components/parts";
import { useLanguage } from "../../../i18n";
import { kindOf } from "../../../kinds/registry";
import { clock } from "../../../status/age";
import { restartOf } from "./restart";

const strategies = ["Always", "RerunOnFailure", "Once", "Halted", "Suspended"] as const;
type Strategy = (typeof strategies)[number];

/** When a machine runs, and its restart. A choice is local until it is applied, with what will be sent below. */
export function Power({ machine }: { machine: Objects["virtualmachines"] }) {
  const { say, language } = useLanguage();
  const kind = kindOf("virtualmachines");
  const now: Strategy = machine.spec?.runStrategy ?? "Always";
  const [wanted, setWanted] = useState<Strategy>();
  const [at, setAt] = useState("");
  const disabled = useHindrance("virtualmachines", machine.metadata.namespace, "patch");
  const { run, busy, failed } = useOrder();
  useEffect(() => { if (wanted === now) setWanted(undefined); }, [wanted, now]);
  if (!kind) return null;
  const target = targetOf(kind, machine);
  const time = at === "" ? undefined : new Date(at);
  const restarting = restartOf(target, time, machine.spec?.restartAt);
  const order = wanted ? orders.strategy(target, wanted) : restarting.order;
  const { status } = machine;
  const started = status?.server?.startedAt;
  const sub = [started && status?.phase === "Active" && say("power.since", { time: clock(started, language, Date.now()) }), say("power.sub", { count: status?.restartCount ?? 0 })].filter(Boolean).join(", ");
  const planned = machine.spec?.restartAt && machine.spec.restartAt > (status?.lastRestartTime ?? "") && Date.parse(machine.spec.restartAt) > Date.now() ? machine.spec.restartAt : undefined;
  const apply = () => {
    if (!wanted) return;
    void run(order, say("power.run", { strategy: wanted }), target.name, { undo: orders.strategy(target, now) }).then((done) => { if (done) setWanted(undefined); });
  };
  const restart = () => void run(restarting.order, say("action.restart"), target.name, { undo: restarting.undo }).then((done) => { if (done) setAt(""); });
  // What is sent is shown below before: that is the choice, as long as there is one.
  const chosen = wanted && say("power.chosen", { strategy: wanted });
  const off = status?.phase === "Active" || at !== "" ? undefined : say("power.off");
  return (
    <Panel title={say("power.title")} sub={sub}>
      <div className="knobs">
        <span className="sub" lang="en">runStrategy</span>
        <Bar className="row wrap">
          <Segments label="runStrategy" value={wanted ?? now} options={strategies.map((each) => [each, each] as const)} onChange={(to) => { setWanted(to === now ? undefined : to); setAt(""); }} />
          {wanted && <Action label={say("power.apply", { strategy: wanted })} disabled={disabled} busy={busy} onClick={apply} />}
          <span className="dim small">{say(`power.${wanted ?? now}`)}</span>
        </Bar>
        <span className="sub">{say("action.restart")}</span>
        <span className="row wrap">
          <span className="field"><input type="datetime-local" aria-label={say("power.at")} value={at} onChange={(event) => { setAt(event.target.value); setWanted(undefined); }} /></span>
          <Action label={at === "" ? say("power.now") : say("power.plan")} disabled={disabled ?? chosen ?? off} busy={busy && !wanted} onClick={restart} />
          <span className="dim small">{planned ? say("power.planned", { time: clock(planned, language, Date.now()) }) : say("power.stops", { mode: machine.spec?.powerOff?.mode ?? "TrySoft" })}</span>
        </span>
      </div>
      {disabled && <p className="small sub">{disabled}</p>}
      <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
      {failed && <Failure error={failed} />}
    </Panel>
  );
}
