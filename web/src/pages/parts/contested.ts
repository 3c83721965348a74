import { store } from "../../live/store";
import { tiesOf } from "../../map/ties";

/** The first node on which a pool has lost a key. */
export function contested(pool: string): string | undefined {
  const pools = store.list("nodepools");
  return store.list("nodes").filter((node) => tiesOf(node, pools).lost.includes(pool)).map((node) => node.metadata.name ?? "").sort()[0];
}
