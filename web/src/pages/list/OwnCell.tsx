import type { KubeObject, Objects } from "../../api/types";
import { useObjects } from "../../live/hooks";
import { store } from "../../live/store";
import { PoolChips } from "../../map/PoolChips";
import { tiesOf } from "../../map/ties";
import { useListsAll } from "../../shell/session";
import { cores, gibi } from "../../status/quantity";
import { requestedOf, resources, taintsOf } from "./own";

type Node = Objects["nodes"];

/** A cell of a column that the console adds: what the map of nodes shows of one. */
export function OwnCell({ column, object }: { column: string; object: KubeObject | undefined }) {
  const node = object && store.get("nodes", undefined, object.metadata.name ?? "");
  if (!node) return null;
  if (column === "Pools") return <Pools node={node} />;
  const resource = resources[column];
  return resource ? <Requested node={node} resource={resource} /> : <Taints node={node} />;
}

/** The pools of a node change with the pools as well, and the row does not. */
function Pools({ node }: { node: Node }) {
  return <span className="row tight"><PoolChips ties={tiesOf(node, useObjects("nodepools"))} /></span>;
}

function Requested({ node, resource }: { node: Node; resource: "cpu" | "memory" }) {
  const pods = useObjects("pods");
  // Who may list the pods of some namespaces alone would be told that full nodes are nearly empty.
  const measured = useListsAll("pods") === true;
  const { requested, allocatable } = requestedOf(node, pods, resource);
  const show = resource === "cpu" ? cores : gibi;
  return <span>{measured ? show(requested) : "?"} <span className="dim">/ {show(allocatable)}</span></span>;
}

function Taints({ node }: { node: Node }) {
  const taints = taintsOf(node);
  const [first, ...rest] = taints;
  if (first === undefined) return null;
  return <span className="mono taint" title={taints.join("\n")}><span>{first.replace(/^[^/:=]*\//, "")}</span>{rest.length > 0 && <span className="dim"> +{rest.length}</span>}</span>;
}
