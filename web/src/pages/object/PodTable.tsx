import { Fragment, useEffect, useMemo } from "react";
import { Link } from "@tanstack/react-router";
import type { Objects } from "../../api/types";
import { Nothing, Panel } from "../../components/parts";
import { Said } from "../../components/Said";
import { useSay } from "../../i18n";
import { pageOf } from "../../kinds/registry";
import { useHeld, useNow, useObjects } from "../../live/hooks";
import { inPlace, movedOf } from "../../live/inPlace";
import { useHolding } from "../../live/useHolding";
import { useListsAll } from "../../shell/session";
import { requestsOf } from "../../map/requests";
import { PoolChips } from "../../map/PoolChips";
import { type Ties, tiesOf } from "../../map/ties";
import { age } from "../../status/age";
import { sumOf } from "../../status/podsum";
import { cores, gibi } from "../../status/quantity";
import { StatusMark } from "../../status/shapes";
import { statusOf } from "../../status/status";
import { Renew } from "../parts/Renew";

type Pod = Objects["pods"];

const asTheyAre = (held: readonly Pod[], now: readonly Pod[]) => inPlace(held, now, ({ metadata }) => [metadata.uid]);

/** The pools of each node. */
function usePools(wanted: boolean): (node: string) => Ties | undefined {
  const nodes = useObjects("nodes");
  const pools = useObjects("nodepools");
  return useMemo(() => {
    const byName = new Map(wanted ? nodes.map((node) => [node.metadata.name, node]) : []);
    return (name: string) => { const node = byName.get(name); return node && tiesOf(node, pools); };
  }, [wanted, nodes, pools]);
}

/** Pods with what kubectl prints of them, and why one waits; with the pools of their nodes, or with what they request of a node. */
export function PodTable({ pods, named = false, pools = false }: { pods: readonly Pod[]; named?: boolean; pools?: boolean }) {
  const say = useSay();
  const now = useNow(10_000);
  const poolsOf = usePools(pools);
  const sorted: readonly Pod[] = useMemo(() => [...pods].sort((a, b) => (a.metadata.name ?? "").localeCompare(b.metadata.name ?? "")), [pods]);
  // Rows stay while somebody is in them: those that have gone say so, and how many have come stands above, in the same panel: the way there lets go of nothing.
  const { held, holds, unfocus } = useHolding();
  const { shown, show } = useHeld(sorted, held, "", asTheyAre);
  const moved = useMemo(() => movedOf(shown, sorted), [shown, sorted]);
  const there = useMemo(() => new Set(moved.gone > 0 ? sorted : shown), [moved, shown, sorted]);
  const none = shown.length === 0;
  useEffect(() => { if (none) unfocus(); }, [none, unfocus]); // no focus leaves a table that is taken away
  const sum = useMemo(() => pods.map(requestsOf).reduce((all, one) => ({ cpu: all.cpu + one.cpu, memory: all.memory + one.memory }), { cpu: 0, memory: 0 }), [pods]);
  const whole = useListsAll("pods");
  const sub = named && whole !== undefined ? say(whole ? "pods.requested" : "pods.seen", { count: pods.length, cpu: cores(sum.cpu), memory: gibi(sum.memory) }) : String(pods.length);
  const width = 5 + (named ? 2 : 1) + (pools ? 1 : 0);
  return (
    <Panel title={say("pods.title")} sub={sub} aside={<Renew {...moved} onShow={() => { show(); unfocus(); }} />} holds={holds} flush>
      {none ? <Nothing>{say("list.none", { kind: "Pods" })}</Nothing> : (
        <div className="scroll">
          <table className="cards">
            <thead>
              <tr>
                <th scope="col">Name</th><th scope="col" className="num">Ready</th><th scope="col">Status</th><th scope="col" className="num">Restarts</th><th scope="col" className="num">Age</th>
                {named ? <><th scope="col" className="num">CPU</th><th scope="col" className="num">{say("map.memory")}</th></> : <th scope="col">Node</th>}
                {pools && <th scope="col">{say("pods.pools")}</th>}
              </tr>
            </thead>
            <tbody>
              {shown.map((pod) => {
                const { namespace, name = "" } = pod.metadata;
                const containers = sumOf(pod);
                const node = pod.spec?.nodeName;
                const status = statusOf("pods", pod);
                const gone = !there.has(pod);
                const waits = !gone && status.name !== "ready" && status.message !== undefined;
                const requests = requestsOf(pod);
                const tied = pools && node ? poolsOf(node) : undefined;
                return (
                  <Fragment key={pod.metadata.uid ?? name}>
                    <tr className={gone ? "gone" : waits ? "haswhy" : undefined}>
                      <td className="nm"><Link className="plainlink" to={pageOf("pods", namespace, name)}><code>{named && namespace ? `${namespace}/` : ""}{name}</code></Link></td>
                      <td className="num" data-label="Ready">{containers.ready}/{containers.total}</td>
                      <td className="mark">{gone ? <span className="dim">{say("list.gone")}</span> : <StatusMark status={status} />}</td>
                      <td className="num" data-label="Restarts">{containers.restarts}</td>
                      <td className="num" data-label="Age">{age(pod.metadata.creationTimestamp, now)}</td>
                      {named
                        ? <><td className="num" data-label="CPU">{requests.cpu > 0 ? cores(requests.cpu) : <span className="dim">&lt;none&gt;</span>}</td><td className="num" data-label={say("map.memory")}>{requests.memory > 0 ? gibi(requests.memory) : <span className="dim">&lt;none&gt;</span>}</td></>
                        : <td data-label="Node">{node ? <Link className="plainlink" to={pageOf("nodes", undefined, node)}>{node}</Link> : <span className="dim">&lt;none&gt;</span>}</td>}
                      {pools && <td><span className="row tight">{tied && <PoolChips ties={tied} />}{tied && Object.keys(tied.ties).length === 0 && <span className="chip gone">{say("map.noPool")}</span>}</span></td>}
                    </tr>
                    {waits && <tr className="why"><td colSpan={width}><span className="reason">{status.reason} </span><Said inline reason={status.reason} message={status.message} /></td></tr>}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
