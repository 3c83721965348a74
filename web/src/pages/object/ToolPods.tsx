import { Link } from "@tanstack/react-router";
import { flagsOf, quoted } from "../../actions/commands";
import { Command, Nothing, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import { pageOf } from "../../kinds/registry";
import { useShown } from "../../live/page";
import { Shape } from "../../status/shapes";
import type { StatusName } from "../../status/status";

const shapes: Record<string, StatusName> = { Waiting: "reconciling", Starting: "reconciling", Running: "ready", Ended: "stopped", Failed: "stalled", Refused: "stalled", LeftOut: "paused" };

/** The pods that a debugging tool is for, and how far each is. */
export function ToolPods({ namespace, name }: { namespace: string; name: string }) {
  const say = useSay();
  const tool = useShown("podbuggertools", namespace, name);
  if (!tool) return null;
  const { pods = [], matched = 0, installed = 0, failed = 0 } = tool.status ?? {};
  const first = pods.find((pod) => pod.state === "Running");
  return (
    <>
      <Panel title={say("pods.title")} sub={say("tool.sub", { matched, installed, failed })} flush>
        {pods.length === 0 ? <Nothing>{say("tool.none")}</Nothing> : (
          <ul className="entries">
            {pods.map((pod) => (
              <li key={pod.name}>
                <span className="row wrap"><Shape name={shapes[pod.state] ?? "unknown"} /><Link className="plainlink" to={pageOf("pods", namespace, pod.name)}><code>{pod.name}</code></Link><span className="sub" lang="en">{pod.state}</span>{pod.container && <code className="dim">{pod.container}</code>}{pod.state === "Running" && <Link className="link" to={pageOf("pods", namespace, pod.name)} search={{ tab: "terminal", container: pod.container }} aria-label={say("tool.open", { name: pod.name })}>{say("tab.terminal")}</Link>}</span>
                {pod.message && <span className="small sub said" lang="en">{pod.message}</span>}
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {first && <Panel title={say("tool.use")}><Command text={`kubectl attach -it ${quoted(first.name)}${flagsOf({ namespace })} -c ${quoted(first.container ?? "")}`} /></Panel>}
    </>
  );
}
