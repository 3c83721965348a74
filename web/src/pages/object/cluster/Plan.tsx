import { useState } from "react";
import { curl, orders } from "../../../actions/commands";
import { useHindrance } from "../../../actions/useHindrance";
import { targetOf, useOrder } from "../../../actions/useOrder";
import { Action, DoesTheSame, Failure, Panel } from "../../../components/parts";
import { useLanguage } from "../../../i18n";
import { kindOf } from "../../../kinds/registry";
import { useShown } from "../../../live/page";
import { Shape } from "../../../status/shapes";
import { clock } from "../../../status/age";
import { changeOf } from "./stages";

const classes = { "+": "add", "−": "del", "~": "mod" } as const;

/** What a cluster wants to do and waits with, line by line. What may lose something takes one tick that names it. */
export function Plan({ name }: { name: string }) {
  const { say, language } = useLanguage();
  const kind = kindOf("clusters");
  const cluster = useShown("clusters", undefined, name);
  const disabled = useHindrance("clusters", undefined, "patch");
  const { run, busy, failed } = useOrder();
  /** The plan that was ticked: another one is another question. */
  const [ticked, setTicked] = useState<string>();
  const plan = cluster?.status?.plan;
  if (!kind || !cluster || !plan) return null;
  const lines = (plan.summary ?? "").split("\n").filter(Boolean);
  const waits = cluster.status?.conditions?.some((condition) => condition.reason === "WaitingForApproval") === true;
  const target = targetOf(kind, cluster);
  const order = orders.approve(target, plan.id);
  const lost = lines.filter((line) => changeOf(line) === "−" || /^(?:network|services): |: (?:roles|address) /.test(line)).map((line) => line.replace(/ \(.*\)$/, ""));
  const tick = plan.destructive === true && ticked !== plan.id;
  const { appliedAt, appliedConfig } = cluster.status ?? {};
  const sub = appliedAt ? say("plan.against", { count: lines.length, time: clock(appliedAt, language, Date.now()) }) : say("plan.first", { count: lines.length });
  return (
    <Panel title={say("plan.title", { id: plan.id })} sub={sub}>
      <div className="stack wide">
        <div className="diff" lang="en">{lines.map((line, index) => <div key={index} className={classes[changeOf(line)]}><b>{changeOf(line)}</b>{line}</div>)}</div>
        {plan.destructive && <div className="reasonbox stalled"><Shape name="stalled" /><div><b>{say("plan.lost")}</b> {say("plan.lostWhy")}</div></div>}
        {appliedConfig && <details><summary>{say("plan.applied")}</summary><pre className="applied" lang="en">{appliedConfig}</pre></details>}
        {waits && (
          <>
            <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />
            <div className="row wrap between">
              {plan.destructive ? <label className="row"><input type="checkbox" checked={!tick} onChange={(event) => setTicked(event.target.checked ? plan.id : undefined)} /><span>{lost.length > 0 ? say("plan.tick", { what: lost.join(", ") }) : say("plan.tickAny")}</span></label> : <span />}
              <Action label={say("plan.approve", { id: plan.id })} disabled={disabled ?? (tick ? say("plan.tickFirst") : undefined)} busy={busy} onClick={() => void run(order, say("action.approve"), name)} />
            </div>
          </>
        )}
        {failed && <Failure error={failed} />}
      </div>
    </Panel>
  );
}
