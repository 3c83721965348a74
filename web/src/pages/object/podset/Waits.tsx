import { useMemo } from "react";
import type { Check, Objects } from "../../../api/types";
import { Panel, Skeleton } from "../../../components/parts";
import { Asked, Step } from "../../../components/Said";
import { useSay } from "../../../i18n";
import { kindOf } from "../../../kinds/registry";
import { useObjects } from "../../../live/hooks";
import { requestsOf } from "../../../map/requests";
import { useListsAll } from "../../../shell/session";
import { cores, gibi } from "../../../status/quantity";
import { Shape } from "../../../status/shapes";
import { useWhy } from "../useWhy";
import { type Bin, pack, type Packing, requestsAny } from "./packing";
import { leftOf, waitingChecks } from "./waiting";

type PodSet = Objects["podsets"];
/** So many nodes are drawn: those with the most of the pods, and the others are a number. */
const drawn = 12;

/** How the pods of a PodSet lie on the nodes of its pool; undefined where it has no pool, its pods request nothing, or others are out of sight. */
export function usePacking(podset: PodSet | undefined, own: readonly Objects["pods"][]): Packing | undefined {
  const nodes = useObjects("nodes");
  const pools = useObjects("nodepools");
  const pods = useObjects("pods");
  const whole = useListsAll("pods") === true;
  return useMemo(() => {
    const pool = podset?.spec?.nodePool;
    const one = own[0];
    if (!whole || !podset || !pool || !one) return undefined;
    const wants = requestsOf(one);
    if (!requestsAny(wants)) return undefined;
    return pack(pool, nodes, pools, pods, new Set(own.map((pod) => pod.metadata.uid ?? "")), wants);
  }, [whole, podset, own, nodes, pools, pods]);
}

/** Why pods wait: the checks in their order, and what the nodes have left. */
export function Waits({ podset, own, packing }: { podset: PodSet; own: readonly Objects["pods"][]; packing: Packing | undefined }) {
  const say = useSay();
  const kind = kindOf("podsets");
  const waiting = own.filter((pod) => pod.spec?.nodeName === undefined || pod.spec.nodeName === "").length;
  const missing = Math.max(waiting, (podset.spec?.size ?? 0) - (podset.status?.availableReplicas ?? 0));
  if (!kind || missing <= 0) return null;
  return (
    <Panel title={say("waits.title", { count: missing })} sub={say("why.sub")}>
      <div className="waits">
        <Checks podset={podset} />
        {packing && packing.bins.length > 0 && <Bins packing={packing} name={podset.metadata.name ?? ""} waiting={waiting} />}
      </div>
    </Panel>
  );
}

function Checks({ podset }: { podset: PodSet }) {
  const say = useSay();
  const why = useWhy(kindOf("podsets"), podset);
  if (why.isPending) return <Skeleton rows={6} />;
  if (!why.data) return null;
  const { pod, checks } = waitingChecks(why.data);
  const count = (check: Check) => { const of = leftOf(check); return of && <span className="dim small nowrap">{say("waits.left", of)}</span>; };
  return (
    <div>
      {pod !== undefined && <p className="small sub ofpod">{say("waits.ofPod")} <code>{pod}</code></p>}
      <ol className="steps">
        {checks.map((check) => (
          <li key={check.id}>
            {check.state === "NotLookedAt" ? <i className="todo" aria-hidden="true" /> : <Shape name={check.state === "Passed" ? "ready" : check.next?.heals ? "reconciling" : "stalled"} />}
            <div className={check.state === "Failed" ? "strong" : undefined}><Asked check={check} /><span className="sr">: {say(check.state === "Passed" ? "why.passed" : check.state === "Failed" ? "why.failed" : "why.skipped")}</span>{check.state === "Failed" && check.message && <div className="sub small"><Step text={check.message} /></div>}</div>
            {count(check) ?? <span />}
          </li>
        ))}
      </ol>
    </div>
  );
}

const width = 300;
const bar = 18;
const step = 26;

function Bins({ packing, name, waiting }: { packing: Packing; name: string; waiting: number }) {
  const say = useSay();
  const bytes = /^(memory|ephemeral-storage|hugepages-.*)$/.test(packing.resource);
  const show = (value: number) => (bytes ? gibi(value) : cores(value));
  const shown = [...packing.bins].sort((a, b) => b.blocks.filter((block) => block.own).length - a.blocks.filter((block) => block.own).length).slice(0, drawn).sort((a, b) => packing.bins.indexOf(a) - packing.bins.indexOf(b));
  const most = Math.max(packing.each, ...shown.map((bin) => bin.allocatable));
  const x = (value: number) => (most > 0 ? (width * value) / most : 0);
  const resource = packing.resource === "cpu" ? "CPU" : packing.resource === "memory" ? say("map.memory") : packing.resource;
  const words = { notReady: "map.notReady", cordoned: "map.cordoned", leaves: "map.leaves" } as const;
  const lines = shown.length + (waiting > 0 ? 1 : 0);
  const spoken = shown.map((bin) => `${bin.name}: ${show(bin.free)}`).join(", ");
  const note = (bin: Bin) => (bin.shut ? say(words[bin.shut]) : say("waits.free", { free: show(Math.max(0, bin.free)) }));
  return (
    <figure className="bins">
      <figcaption className="small sub">{say("waits.caption", { resource })}</figcaption>
      <svg className="map" viewBox={`0 0 ${width + 220} ${lines * step + 4}`} role="img" aria-label={say("waits.spoken", { spoken })}>
        {shown.map((bin, at) => {
          const y = at * step + 4;
          let from = 0;
          return (
            <g key={bin.name} transform={`translate(0 ${y})`}>
              <text x="0" y="13" className={bin.shut ? "t3" : undefined}>{bin.name.length > 20 ? `…${bin.name.slice(-19)}` : bin.name}</text>
              {bin.blocks.map((block) => {
                const left = 120 + x(from);
                from += block.size;
                return <rect key={block.name} x={left} y="0.5" width={Math.max(1, x(block.size) - 1)} height={bar - 1} fill={block.own ? "var(--level)" : "var(--idle-bg)"} stroke="var(--edge)" strokeWidth=".5"><title>{`${block.name}, ${show(block.size)}`}</title></rect>;
              })}
              <rect x="120" y="0.5" width={x(bin.allocatable)} height={bar - 1} rx="2" fill="none" stroke="var(--edge)" strokeDasharray={bin.shut ? "3 2" : undefined} />
              <text x={128 + x(bin.allocatable)} y="13" className="t2">{note(bin)}</text>
            </g>
          );
        })}
        {waiting > 0 && (
          <g transform={`translate(0 ${shown.length * step + 4})`}>
            <text x="0" y="13" fill="var(--bad)">{say("waits.one")}</text>
            <rect x="120" y="0.5" width={x(packing.each)} height={bar - 1} rx="2" fill="var(--bad-bg)" stroke="var(--bad)" />
            <text x="126" y="13">{name}, {show(packing.each)}</text>
            <text x={128 + x(packing.each)} y="13" className="t2">{packing.bins.some((bin) => bin.fits > 0) ? say("waits.fits") : say("waits.fitsNo")}</text>
          </g>
        )}
      </svg>
      {packing.bins.length > shown.length && <p className="small dim">{say("waits.more", { count: packing.bins.length - shown.length })}</p>}
    </figure>
  );
}
