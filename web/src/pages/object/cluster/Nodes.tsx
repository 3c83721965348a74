import { useEffect, useMemo } from "react";
import { flagsOf, quoted } from "../../../actions/commands";
import type { Objects } from "../../../api/types";
import { Command, Nothing, Panel } from "../../../components/parts";
import { type Key, useLanguage, useSay } from "../../../i18n";
import { useHeld, useNow } from "../../../live/hooks";
import { inPlace, movedOf } from "../../../live/inPlace";
import { useShown } from "../../../live/page";
import { useHolding } from "../../../live/useHolding";
import { age, clock } from "../../../status/age";
import { StatusMark } from "../../../status/shapes";
import { Renew } from "../../parts/Renew";
import { knownOf, type Known, type Listed, shapes, totalOf, type Word, wordOf } from "./nodes";

const asTheyAre = (held: readonly Listed[], now: readonly Listed[]) => inPlace(held, now, ({ name }) => [name]);

const words: Record<Word, Key> = { joinedNot: "clusternodes.joinedNot", probedNot: "clusternodes.probedNot", ready: "status.ready", readyNot: "status.notReady", unknown: "status.unknown" };
const notes: Partial<Record<Known, Key>> = { notYet: "clusternodes.notYet", old: "clusternodes.old" };
/** Our own reasons have a sentence; those of kubelets are as they are. */
const sentences: Partial<Record<Word, Key>> = { joinedNot: "clusternodes.joinedNotWhy", probedNot: "clusternodes.probedNotWhy" };

/** The nodes of a provisioned cluster as its API server lists them, and machines of its configuration that are not nodes. Those that are not ready come first. */
export function Nodes({ name }: { name: string }) {
  const say = useSay();
  const now = useNow(10_000);
  const cluster = useShown("clusters", undefined, name);
  const nodes = cluster?.status?.nodes;
  const items: readonly Listed[] = useMemo(() => nodes?.items ?? [], [nodes]);
  // Rows stay while somebody is in them, although one that breaks belongs at the top.
  const { held, holds, unfocus } = useHolding();
  const { shown, show } = useHeld(items, held, name, asTheyAre);
  const moved = useMemo(() => movedOf(shown, items), [shown, items]);
  const there = useMemo(() => new Set(moved.gone > 0 ? items : shown), [moved, items, shown]);
  const none = shown.length === 0;
  useEffect(() => { if (none) unfocus(); }, [none, unfocus]); // no focus leaves a table that is taken away
  const total = totalOf(cluster);
  const known = knownOf(cluster);
  const note = notes[known];
  const counts = { ready: nodes?.ready ?? 0, total, shown: items.length };
  const sub = known === "notYet" || none ? String(total) : say(total > items.length ? "clusternodes.first" : "clusternodes.ready", counts);
  return (
    <>
      <Panel title={say("tab.nodes")} sub={sub} aside={<Renew {...moved} onShow={() => { show(); unfocus(); }} />} holds={holds} flush>
        {none ? <Nothing>{say(known === "none" ? "clusternodes.none" : "clusternodes.nothing")}</Nothing> : (
          <div className="scroll">
            <table className="cards">
              <thead><tr>
                <th scope="col">Name</th><th scope="col">Status</th><th scope="col">Roles</th><th scope="col" className="num">{say("clusternodes.since")}</th>
                <th scope="col">Version</th><th scope="col">Internal-IP</th><th scope="col">{say("events.reason")}</th>
              </tr></thead>
              <tbody>{shown.map((item) => <Row key={item.name} item={item} now={now} gone={!there.has(item)} />)}</tbody>
            </table>
          </div>
        )}
        {note && !none && <footer>{say(note)}</footer>}
      </Panel>
      {cluster && <InTheShell cluster={cluster} name={name} />}
    </>
  );
}

function Row({ item, now, gone }: { item: Listed; now: number; gone: boolean }) {
  const { say, language } = useLanguage();
  const word = wordOf(item);
  const sentence = sentences[word];
  const said = say(words[word]) + (item.unschedulable ? `${say("list.comma")}${say("clusternodes.cordoned")}` : "");
  return (
    <tr className={gone ? "gone" : undefined}>
      <td className="nm"><code>{item.name}</code></td>
      <td className="mark">{gone ? <span className="dim">{say("list.gone")}</span> : <StatusMark status={{ name: shapes[word] }} word={said} />}</td>
      <td data-label="Roles">{item.roles?.length ? item.roles.join(",") : <None />}</td>
      <td className="num" data-label={say("clusternodes.since")} title={item.since ? clock(item.since, language, now) : undefined}>{item.since ? age(item.since, now) : <None />}</td>
      <td data-label="Version">{item.version || <None />}</td>
      <td data-label="Internal-IP">{item.address || <None />}</td>
      <td className="wraps">{item.reason && <span className="reason" lang="en">{item.reason} </span>}{sentence && say(sentence)}</td>
    </tr>
  );
}

/** What kubectl prints where there is nothing. */
function None() {
  return <span className="dim">&lt;none&gt;</span>;
}

/** The status says the same, and the cluster itself says all, to those who may read its kubeconfig. */
function InTheShell({ cluster, name }: { cluster: Objects["clusters"]; name: string }) {
  const say = useSay();
  const secret = cluster.status?.kubeconfigRef;
  const file = quoted(`${name}.kubeconfig`);
  return (
    <Panel title={say("facts.shell")}>
      <Command text={`kubectl describe clusters.clusterprovisioner.rke.io ${quoted(name)}`} />
      {secret?.name && <Command text={`kubectl get secret ${quoted(secret.name)}${flagsOf({ namespace: secret.namespace })} -o jsonpath={.data.value} | base64 -d > ${file}`} />}
      {secret?.name && <Command text={`kubectl --kubeconfig ${file} get nodes -o wide`} />}
    </Panel>
  );
}
