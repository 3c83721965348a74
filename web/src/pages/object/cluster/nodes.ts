import type { Objects } from "../../../api/types";
import { conditionsOf, type StatusName } from "../../../status/status";

type Cluster = Objects["clusters"];
export type Listed = NonNullable<NonNullable<NonNullable<Cluster["status"]>["nodes"]>["items"]>[number];

/** How many nodes and machines there are. A Windlass that only counted them has listed none. */
export function totalOf(cluster: Cluster | undefined): number {
  const nodes = cluster?.status?.nodes;
  return Math.max(nodes?.total ?? 0, nodes?.items?.length ?? 0);
}

export type Word = "joinedNot" | "probedNot" | "ready" | "readyNot" | "unknown";

/** A machine that is not known as a node says so. A node has the word of kubectl: what is not True is NotReady, and Unknown one that has no condition. */
export function wordOf({ ready, reason, since }: Listed): Word {
  if (ready === "True") return "ready";
  if (ready === "Unknown" && reason === "NotJoined") return "joinedNot";
  if (ready === "Unknown" && reason === "NotProbed") return "probedNot";
  return ready === "Unknown" && !reason && !since ? "unknown" : "readyNot";
}

/** A machine that has not joined may still do so: it is not red. */
export const shapes: Record<Word, StatusName> = { joinedNot: "attention", probedNot: "unknown", ready: "ready", readyNot: "stalled", unknown: "unknown" };

export type Known = "listed" | "none" | "notYet" | "old";

/** What is known of the nodes: nothing until they were listed, and what was, if nobody answers any more. */
export function knownOf(cluster: Cluster | undefined): Known {
  const nodes = cluster?.status?.nodes;
  const items = nodes?.items ?? [];
  if (!cluster || !nodes || items.some((item) => wordOf(item) === "probedNot") || (items.length === 0 && (nodes.ready ?? 0) > 0)) return "notYet";
  if (items.length === 0) return "none";
  return conditionsOf(cluster).some(({ type, status }) => type === "Healthy" && status === "False") ? "old" : "listed";
}
