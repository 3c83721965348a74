import { useSay } from "../i18n";
import { Shape } from "../status/shapes";
import type { Ties } from "./ties";

/** The pools of a node, each with what is not usual about it: that it waits for its turn, has it, leaves, or goes without a key. */
export function PoolChips({ ties: { ties, lost } }: { ties: Ties }) {
  const say = useSay();
  return Object.entries(ties).map(([pool, tie]) => {
    const loses = tie !== "leaves" && tie !== "turn" && lost.includes(pool);
    const text = loses ? say("map.loses", { pool }) : tie === "leaves" ? say("map.leaving", { pool }) : tie === "turn" ? say("map.turns", { pool }) : tie === "waits" ? say("map.waiting", { pool }) : pool;
    return <span key={pool} className={loses ? "chip lost" : tie === "leaves" ? "chip gone" : "chip"}>{loses && <Shape name="attention" size={12} />}{text}</span>;
  });
}
