import { useMemo, useState } from "react";
import type { KubeObject } from "../../api/types";
import { Command, Nothing, Segments } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import type { By } from "../../map/model";
import { NodeMap } from "../../map/NodeMap";
import { useNodeMap } from "../../map/useNodeMap";
import { worst } from "../../status/order";
import { statusOf, withoutStatus } from "../../status/status";

export function Counting({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const objects: readonly KubeObject[] = useObjects(kind.plural, namespace);
  const bad = useMemo(() => worst(kind.plural, objects)?.count ?? 0, [kind, objects]);
  const moving = useMemo(() => objects.filter((object) => ["reconciling", "retrying"].includes(statusOf(kind.plural, object).name)).length, [kind, objects]);
  if (kind.plural in withoutStatus) return <p className="sub">{say("list.total", { total: objects.length })}</p>;
  const key = bad + moving === 0 ? "list.allReady" : moving === 0 ? "list.bad" : bad === 0 ? "list.moving" : "list.sub";
  return <p className="sub">{say(key, { total: objects.length, bad, moving })}</p>;
}

/** The map above the list of nodes, by pool, zone or size. */
export function NodesMap() {
  const say = useSay();
  const [by, setBy] = useState<By>("pools");
  const shown = useNodeMap(by);
  if (shown.layout.blocks.length === 0) return null;
  return (
    <section className="panel spaced">
      <div className="mapby"><Segments label={say("map.by")} value={by} options={(["pools", "zones", "sizes"] as const).map((each) => [each, say(`map.by.${each}`)] as const)} onChange={setBy} /></div>
      <NodeMap shown={shown} numbers={false} />
    </section>
  );
}

export function Empty({ kind, filtered, onClear }: { kind: Kind; filtered: boolean; onClear: () => void }) {
  const say = useSay();
  const name = say(`kind.${kind.plural}`);
  if (filtered) return <Nothing>{say("list.noMatch")} <button type="button" className="plain" onClick={onClear}>{say("list.clear")}</button></Nothing>;
  return (
    <div className="blank">
      <p className="say">{say("list.none", { kind: name })}</p>
      <p className="sub">{say("list.start")}</p>
      <Command text={`kubectl explain ${kind.kubectl} --recursive`} />
    </div>
  );
}
