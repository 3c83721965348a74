import { type FormEvent, useState } from "react";
import { curl, orders } from "../../../actions/commands";
import { useHindrance } from "../../../actions/useHindrance";
import { targetOf, useOrder } from "../../../actions/useOrder";
import type { Objects } from "../../../api/types";
import { Action, DoesTheSame, Failure, Panel } from "../../../components/parts";
import { useSay } from "../../../i18n";
import { kindOf } from "../../../kinds/registry";

/** How large a machine is. What is typed stays when the machine changes meanwhile; Escape returns. */
export function Resize({ machine }: { machine: Objects["virtualmachines"] }) {
  const say = useSay();
  const kind = kindOf("virtualmachines");
  const [typed, setTyped] = useState<{ cpu?: string; memory?: string }>({});
  const disabled = useHindrance("virtualmachines", machine.metadata.namespace, "patch");
  const { run, busy, failed } = useOrder();
  if (!kind) return null;
  const { resource = {}, updatePolicy = "Live" } = machine.spec ?? {};
  const now = { cpu: String(resource["cpu"] ?? ""), memory: String(resource["memory"] ?? "") };
  const changed: { cpu?: string; memory?: string } = {};
  const back: { cpu?: string; memory?: string } = {};
  for (const part of ["cpu", "memory"] as const) {
    const value = typed[part]?.trim();
    if (value === undefined || value === "" || value === now[part]) continue;
    changed[part] = value;
    back[part] = now[part];
  }
  const ready = Object.keys(changed).length > 0;
  const target = targetOf(kind, machine);
  const order = orders.resize(target, changed);
  const undo = Object.values(back).every((value) => value !== "") ? orders.resize(target, back) : undefined;
  const apply = () => void run(order, say("resize.title"), target.name, { undo }).then((done) => { if (done) setTyped({}); });
  const submit = (event: FormEvent) => { event.preventDefault(); if (ready && !disabled && !busy) apply(); };
  const field = (part: "cpu" | "memory", label: string) => (
    <label className="row"><span className="sub">{label}</span>
      <span className="field short"><input value={typed[part] ?? now[part]} spellCheck={false} onChange={(event) => setTyped({ ...typed, [part]: event.target.value })} onKeyDown={(event) => { if (event.key === "Escape") setTyped({}); }} /></span>
    </label>
  );
  return (
    <Panel title={say("resize.title")} sub={say(`resize.${updatePolicy}`)}>
      <form className="row wrap sizing" onSubmit={submit}>
        {field("cpu", say("usage.cpu"))}{field("memory", say("usage.memory"))}
        {ready && <Action label={say("resize.apply")} disabled={disabled} busy={busy} onClick={apply} />}
        <span className="dim small">{disabled ?? say("resize.keys")}</span>
      </form>
      {ready && <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />}
      {failed && <Failure error={failed} />}
    </Panel>
  );
}
