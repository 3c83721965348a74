import { useMemo } from "react";
import type { Objects } from "../api/types";
import { useHidden, useObjects } from "../live/hooks";
import { useCalm } from "../live/useCalm";
import { useListsAll } from "../shell/session";
import { type By, model, type NodeMapModel } from "./model";

/** How often a map of many nodes is drawn anew at most, in milliseconds. */
const calm = 250;

/** What the map shows of all nodes, or of those that are asked for. */
export function useNodeMap(by: By = "pools", nodes?: readonly Objects["nodes"][], pools?: readonly Objects["nodepools"][]): NodeMapModel {
  const allNodes = useObjects("nodes");
  const allPools = useObjects("nodepools");
  const pods = useObjects("pods");
  const hidden = useHidden();
  // Somebody who sees the pods of one namespace sees nodes that are nearly empty.
  const measured = useListsAll("pods") === true && !hidden.includes("pods");
  const now = useMemo(() => ({ nodes: nodes ?? allNodes, pools: pools ?? allPools, pods }), [nodes, allNodes, pools, allPools, pods]);
  const shown = useCalm(now, now.nodes.length > 64 ? calm : 0);
  return useMemo(() => model(shown.nodes, shown.pools, shown.pods, measured, by), [shown, measured, by]);
}
