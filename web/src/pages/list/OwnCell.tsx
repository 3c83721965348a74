import type { KubeObject } from "../../api/types";
import { store } from "../../live/store";
import { tiesOf } from "../../map/ties";
import { useSay } from "../../i18n";

/** A cell of a column that the console adds: the pools of a node, and its taints. */
export function OwnCell({ column, object }: { column: string; object: KubeObject | undefined }) {
  const say = useSay();
  const node = object && store.get("nodes", undefined, object.metadata.name ?? "");
  if (!node) return null;
  if (column === "Pools") {
    const ties = Object.entries(tiesOf(node, store.list("nodepools")).ties);
    return <span className="row tight">{ties.map(([pool, tie]) => <span key={pool} className={tie === "leaves" ? "chip gone" : "chip"}>{tie === "leaves" ? say("map.leaving", { pool }) : pool}</span>)}</span>;
  }
  const taints = (node.spec?.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
  const [first, ...rest] = taints;
  if (first === undefined) return null;
  return <span className="mono taint" title={taints.join("\n")}><span>{first.replace(/^[^/:=]*\//, "")}</span>{rest.length > 0 && <span className="dim"> +{rest.length}</span>}</span>;
}
