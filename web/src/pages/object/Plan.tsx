import { Command, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import { useObject } from "../../live/hooks";

/** What a cluster wants to do and waits with, line by line. */
export function Plan({ name }: { name: string }) {
  const say = useSay();
  const cluster = useObject("clusters", undefined, name);
  const plan = cluster?.status?.plan;
  if (!plan) return null;
  return (
    <Panel title={say("plan.title", { id: plan.id })} sub={say("plan.sub")}>
      {plan.destructive && <div className="reasonbox stalled"><span /><div>{say("confirm.destructive")}</div></div>}
      <div className="diff" lang="en">
        {(plan.summary ?? "").split("\n").filter(Boolean).map((line, index) => (
          <div key={index} className={line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : line.startsWith("~") ? "mod" : undefined}><b>{line[0]}</b>{line.slice(1).trim()}</div>
        ))}
      </div>
      <Command text={`kubectl annotate clusters.clusterprovisioner.rke.io ${name} clusterprovisioner.rke.io/approve=${plan.id}`} />
    </Panel>
  );
}
