import { useMemo, useState } from "react";
import type { KubeObject } from "../../api/types";
import { Segments } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useFilled, useObjects } from "../../live/hooks";
import type { By } from "../../map/model";
import { NodeMap } from "../../map/NodeMap";
import { useNodeMap } from "../../map/useNodeMap";
import { tallyOf } from "../../status/order";
import { withoutStatus } from "../../status/status";
import { hostOf } from "./HostHead";

function isCordoned(object: KubeObject): boolean {
  return Object.getOwnPropertyDescriptor(Object.getOwnPropertyDescriptor(object, "spec")?.value ?? {}, "unschedulable")?.value === true;
}

/** What there is of a kind, in a sentence. */
export function Counting({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const objects: readonly KubeObject[] = useObjects(kind.plural, namespace);
  const pools = useObjects("nodepools");
  const machines = useObjects("virtualmachines", namespace);
  const filled = useFilled();
  const { bad, moving, stopped } = useMemo(() => tallyOf(kind.plural, objects), [kind, objects]);
  const cordoned = useMemo(() => (kind.plural === "nodes" ? objects.filter(isCordoned).length : 0), [kind, objects]);
  const hosts = useMemo(() => (kind.plural === "virtualmachines" ? [...new Set(machines.map(hostOf).filter(Boolean))].sort() : []), [kind, machines]);
  const total = objects.length;
  // Its place is kept: rows would move from under the pointer.
  if (!filled) return <p className="sub">{"\u00a0"}</p>;
  if (total === 0) return <p className="sub">{say("list.zero")}</p>;
  const rest = [
    ...(bad > 0 ? [say("list.bad", { count: bad })] : []), ...(moving > 0 ? [say("list.moving", { count: moving })] : []), ...(stopped > 0 ? [say("list.off", { count: stopped })] : []),
  ];
  if (cordoned > 0) rest.push(say("list.cordoned", { count: cordoned }));
  const first = kind.plural === "nodes" && pools.length > 0 ? say("list.inPools", { total, pools: pools.length }) : hosts.length > 0 ? say("list.onHosts", { total, hosts: hosts.length > 3 ? say("list.hosts", { count: hosts.length }) : hosts.join(", ") }) : say("list.total", { total });
  if (kind.plural in withoutStatus) return <p className="sub">{first}</p>;
  return <p className="sub">{[first, ...(bad + moving === 0 ? [say("list.allReady")] : []), ...rest].join(say("list.comma"))}</p>;
}

const switched = "windlass.nodes";

/** Whether the map stands above the list of nodes, as this browser remembers it. */
export function useMapped(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => localStorage.getItem(switched) !== "table");
  return [on, (to) => { setOn(to); localStorage.setItem(switched, to ? "map" : "table"); }];
}

export function MapSwitch({ on, onChange }: { on: boolean; onChange: (on: boolean) => void }) {
  const say = useSay();
  return <Segments label={say("nodes.show")} value={on ? "map" : "table"} options={[["map", say("nodes.mapAndTable")], ["table", say("nodes.table")]] as const} onChange={(to) => onChange(to === "map")} />;
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
