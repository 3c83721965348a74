import { useEffect, useMemo, useRef, useState } from "react";
import type { Objects } from "../api/types";
import { useHidden, useObjects } from "../live/hooks";
import { type By, model, type NodeMapModel } from "./model";

/** How often a map of many nodes is drawn anew at most, in milliseconds. */
const calm = 250;

/** A value that changes at once after a while of quiet, and else so often at most. */
export function useCalm<T>(value: T, every: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  const since = useRef(0);
  latest.current = value;
  useEffect(() => {
    if (shown === value) return undefined;
    const timer = setTimeout(() => { since.current = performance.now(); setShown(latest.current); }, Math.max(0, since.current + every - performance.now()));
    return () => clearTimeout(timer);
  }, [value, shown, every]);
  return shown;
}

/** What the map shows of all nodes, or of those that are asked for. */
export function useNodeMap(by: By = "pools", nodes?: readonly Objects["nodes"][], pools?: readonly Objects["nodepools"][]): NodeMapModel {
  const allNodes = useObjects("nodes");
  const allPools = useObjects("nodepools");
  const pods = useObjects("pods");
  const hidden = useHidden();
  const now = useMemo(() => ({ nodes: nodes ?? allNodes, pools: pools ?? allPools, pods }), [nodes, allNodes, pools, allPools, pods]);
  const shown = useCalm(now, now.nodes.length > 64 ? calm : 0);
  return useMemo(() => model(shown.nodes, shown.pools, shown.pods, !hidden.includes("pods"), by), [shown, hidden, by]);
}
