import { useMemo } from "react";
import { Link } from "@tanstack/react-router";
import type { Order } from "../../../actions/commands";
import { Same } from "../../../actions/Same";
import { useHindrance } from "../../../actions/useHindrance";
import { targetOf, useOrder } from "../../../actions/useOrder";
import type { Objects } from "../../../api/types";
import { Action, Nothing, Panel } from "../../../components/parts";
import { type Key, useLanguage, useSay } from "../../../i18n";
import { kindOf, pageOf } from "../../../kinds/registry";
import { useNow, useObject, useObjects } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { useCut } from "../../../live/useCut";
import type { MapNode } from "../../../map/model";
import { NodeMap } from "../../../map/NodeMap";
import { useNodeMap } from "../../../map/useNodeMap";
import { may, useRights } from "../../../shell/session";
import { clock } from "../../../status/age";
import { Shape } from "../../../status/shapes";
import { fromReport } from "./foreseen";
import { ForeseenList } from "./ForeseenList";
import { keep, keptOf } from "./kept";
import { apply, putBack, setSpec } from "./orders";
import { reportOn } from "./rehearsal";

type Pool = Objects["nodepools"];
/** Members up to this number have a bar each. */
const bars = 24;
/** What the API server sets where spec.drain says nothing, in seconds. */
const usualTimeout = 600;

/** What a pool does: its members, the change that goes round, the nodes that leave, and what it would do while it rehearses. */
export function PoolParts({ name }: { name: string }) {
  const pool = useShown("nodepools", undefined, name);
  const pools = useObjects("nodepools");
  const whole = useNodeMap();
  const members = useMemo(() => whole.layout.blocks.flatMap((block) => block.spots).filter((spot) => spot.pools.includes(name)), [whole, name]);
  if (!pool) return null;
  return (
    <>
      {pool.spec?.dryRun === true && <Rehearsing pool={pool} />}
      <Members name={name} members={members} pools={pools} />
      <Rollout pool={pool} name={name} members={members} />
      {pool.status?.draining?.map((draining) => <Drain key={draining.uid} pool={pool} draining={draining} />)}
    </>
  );
}

function Members({ name, members, pools }: { name: string; members: readonly MapNode[]; pools: readonly Pool[] }) {
  const say = useSay();
  const near = useMemo(() => {
    const names = new Set(members.flatMap((member) => member.pools));
    return { nodes: members.map((member) => member.node), pools: pools.filter((pool) => names.has(pool.metadata.name ?? "")) };
  }, [members, pools]);
  const shown = useNodeMap("pools", near.nodes, near.pools);
  const leaving = members.filter((member) => member.ties[name] === "leaves").length;
  const shared = members.filter((member) => member.pools.length > 1).length;
  const sub = say("pool.members", { count: members.length - leaving, shared, leaving });
  const own = pools.find((pool) => pool.metadata.name === name);
  const label = own?.status?.memberLabel ?? `nodepool.node-restriction.kubernetes.io/${name}`;
  const all = <Link className="link" to="/$kind" params={{ kind: "nodes" }} search={(before) => ({ ...before, tab: undefined, l: label })}>{say("pool.inTable")}</Link>;
  return <Panel title={say("members.title")} sub={sub} aside={all} flush>{members.length === 0 ? <Nothing>{say("members.none")}</Nothing> : <NodeMap shown={shown} numbers={false} />}</Panel>;
}

function Rollout({ pool, name, members }: { pool: Pool; name: string; members: readonly MapNode[] }) {
  const { say, language } = useLanguage();
  const now = useNow();
  const rollout = pool.spec?.rollout;
  const status = pool.status?.rollout;
  const inside = members.filter((member) => member.ties[name] !== "leaves");
  const done = inside.filter((member) => member.ties[name] === "has").length;
  if (!rollout && (status?.waitingNodeCount ?? 0) === 0 && (status?.nodes ?? []).length === 0) return null;
  const rules = rollout && [
    say("pool.atATime", { count: String(rollout.maxConcurrent) }), rollout.pauseSeconds ? say("pool.pause", { seconds: rollout.pauseSeconds }) : "",
    rollout.maxUnavailable === undefined ? "" : say("pool.stops", { count: String(rollout.maxUnavailable) }),
  ].filter(Boolean).join(", ");
  const words = { has: "pool.done", turn: "pool.turn", waits: "pool.next", leaves: "map.leaves" } as const;
  const order = { has: 0, turn: 1, waits: 2, leaves: 3 } as const;
  const sorted = [...inside].sort((a, b) => order[a.ties[name] ?? "waits"] - order[b.ties[name] ?? "waits"] || a.name.localeCompare(b.name));
  return (
    <Panel title={say("pool.rollout")} sub={say("pool.rolled", { done, count: inside.length })} aside={rules && <span className="small sub">{rules}</span>}>
      {inside.length <= bars ? (
        <ol className="turns">
          {sorted.map((member) => {
            const tie = member.ties[name] ?? "waits";
            const since = tie === "turn" && status?.turnTime ? `, ${clock(status.turnTime, language, now)}` : "";
            return <li key={member.name}><i className={tie} aria-hidden="true" /><span className="small"><strong>{member.name}</strong> <span className="dim">{say(words[tie])}{since}</span></span></li>;
          })}
        </ol>
      ) : <><span className="bar"><i style={{ width: `${(100 * done) / inside.length}%` }} /></span><p className="small sub">{say("pool.waiting", { turn: (status?.nodes ?? []).length, waiting: status?.waitingNodeCount ?? 0 })}</p></>}
    </Panel>
  );
}

function span(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

function Drain({ pool, draining }: { pool: Pool; draining: NonNullable<NonNullable<Pool["status"]>["draining"]>[number] }) {
  const { say, language } = useLanguage();
  const now = useNow();
  const cut = useCut("nodes");
  const rights = useRights();
  const { run, busy } = useOrder();
  const name = pool.metadata.name ?? "";
  const node = useObject("nodes", undefined, draining.node);
  const timeout = pool.spec?.drain?.timeoutSeconds ?? usualTimeout;
  const begun = Date.parse(draining.startTime);
  const gone = Math.max(0, (now - begun) / 1000);
  const left = draining.podsLeft ?? 0;
  const blocked = draining.blocked ?? [];
  // Only what is a member by its role label can be put back by it.
  const byRole = pool.spec?.nodeSelector === undefined && (pool.spec?.nodeCIDRs ?? []).length === 0;
  const back = node && byRole ? putBack({ name: draining.node, uid: node.metadata.uid ?? "" }, name) : undefined;
  const refused = cut ?? (may(rights, "nodes", undefined, "patch") ? undefined : say("action.refused", { verb: "patch", kind: say("kind.nodes") }));
  const at = clock(draining.startTime, language, now);
  return (
    <Panel
      title={say("pool.drains", { node: draining.node })} sub={say("pool.drainSince", { time: at })}
      aside={back && <Same order={back}><Action label={say("pool.putBack")} busy={busy} disabled={refused} onClick={() => void run(back, say("pool.putBack"), draining.node)} /></Same>}
    >
      <ol className="steps">
        <li><Shape name="ready" /><span>{say("pool.entered")}</span><span className="dim small">{at}</span></li>
        <li><Shape name="ready" /><span>{say("pool.closed", { pool: name })}</span><span /></li>
        <li>
          <Shape name={draining.drained === true ? "ready" : "reconciling"} />
          <div>
            <div>{draining.drained === true ? say("pool.empty") : say("pool.podsLeft", { count: left, blocked: blocked.length })}</div>
            {blocked.map((pod) => <div key={pod} className="small"><code>{pod}</code></div>)}
            {draining.refusal && <div className="small sub" lang="en">{draining.refusal}</div>}
          </div><span />
        </li>
        <li><i className="todo" aria-hidden="true" /><span className="sub">{say("pool.cleaned", { pool: name })}</span><span /></li>
      </ol>
      {timeout > 0 && draining.drained !== true ? (
        <div className="deadline">
          <span className="small nowrap">{say("pool.of", { gone: span(Math.min(gone, timeout)), all: span(timeout) })}</span>
          <span className="bar" aria-hidden="true"><i className="go" style={{ width: `${Math.min(100, (100 * gone) / timeout)}%` }} /></span>
          <span className="small nowrap">{say("pool.deadline", { time: clock(new Date(begun + timeout * 1000).toISOString(), language, now) })}</span>
        </div>
      ) : timeout === 0 && <p className="small sub">{say("pool.forever")}</p>}
      {node && <p className="small"><Link className="link" to={pageOf("nodes", undefined, draining.node)}>{say("overview.open", { name: draining.node })}</Link></p>}
    </Panel>
  );
}

/** While a pool rehearses it touches no node, and says so. */
function Rehearsing({ pool }: { pool: Pool }) {
  const say = useSay();
  const kind = kindOf("nodepools");
  const { run, busy } = useOrder();
  const refused = useHindrance("nodepools", undefined, "patch");
  const report = reportOn(pool);
  if (!kind) return null;
  const target = targetOf(kind, pool);
  const pods = report?.podsToEvict ?? 0;
  const { before, written } = keptOf(target, { generation: pool.metadata.generation ?? 0, spec: { ...pool.spec } }) ?? {};
  const send = async (order: Order, word: Key) => { if (await run(order, say(word), target.name)) keep(target, undefined); };
  // What deletes pods wants a tick, which the dialog of a change has.
  const applying = apply(target, { ...pool.spec });
  const discarding = before && written && setSpec(target, written, before.spec);
  const act = pods === 0 && report && <Same order={applying}><Action label={say("pool.applyTo", { count: report.affectedNodes ?? 0 })} busy={busy} disabled={refused} onClick={() => void send(applying, "pool.apply")} /></Same>;
  const back = discarding && <Same order={discarding}><Action label={say("pool.discard")} disabled={busy ? say("action.busy") : refused} onClick={() => void send(discarding, "pool.discard")} /></Same>;
  return (
    <Panel title={say("pool.rehearsing")} sub={say("pool.rehearsingSub")} aside={<>{back}{act}</>}>
      {report ? <ForeseenList foreseen={fromReport(report)} /> : <p className="sub row"><Shape name="reconciling" />{say("pool.waits")}</p>}
      {pods > 0 && <div className="reasonbox stalled"><Shape name="stalled" /><div><strong>{say("pool.pods", { count: pods })}</strong> {say("pool.podsWhy")}</div></div>}
    </Panel>
  );
}
