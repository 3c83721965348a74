import { useEffect, useMemo } from "react";
import type { KubeObject, Plural } from "../api/types";
import { type Matter, matters } from "../status/order";
import { useNow, useObjects } from "./hooks";

/** The kinds whose status counts on the overview. */
export const watched = ["nodes", "nodepools", "podsets", "deployments", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools"] as const satisfies readonly Plural[];

/** All objects whose status counts, and pods: of some of them nobody else tells. */
export function useWatched(namespace: string | undefined): Record<string, readonly KubeObject[]> {
  const nodes = useObjects("nodes", namespace);
  const nodepools = useObjects("nodepools", namespace);
  const podsets = useObjects("podsets", namespace);
  const deployments = useObjects("deployments", namespace);
  const virtualmachines = useObjects("virtualmachines", namespace);
  const clusters = useObjects("clusters", namespace);
  const kubeconfigs = useObjects("kubeconfigs", namespace);
  const podbuggertools = useObjects("podbuggertools", namespace);
  const pods = useObjects("pods", namespace);
  return useMemo(
    () => ({ nodes, nodepools, podsets, deployments, virtualmachines, clusters, kubeconfigs, podbuggertools, pods }),
    [nodes, nodepools, podsets, deployments, virtualmachines, clusters, kubeconfigs, podbuggertools, pods],
  );
}

/** What needs somebody, and what moves, unless only the first is asked for. */
export function useMatters(all: Readonly<Record<string, readonly KubeObject[]>>, moving = true): { needs: Matter[]; moves: Matter[] } {
  const now = useNow(10_000);
  return useMemo(() => matters(all, now, moving), [all, now, moving]);
}

// The title of the window: what the page is called, behind how much needs somebody.
let page = "";
let cluster = "";
let count = 0;

function entitle(): void {
  document.title = `${count > 0 ? `(${count}) ` : ""}${[page, cluster, "Windlass"].filter((part) => part !== "").join(" · ")}`;
}

/** Names the page in the title of the window. */
export function useTitle(title: string): void {
  useEffect(() => { page = title; entitle(); }, [title]);
}

/** Names the cluster in the title of the window: people have windows of several. */
export function useClusterInTitle(name: string): void {
  useEffect(() => { cluster = name; entitle(); }, [name]);
}

/** Counts in the title of the window, on every page, how much needs somebody. */
export function useCountInTitle(needs: number): void {
  useEffect(() => { count = needs; entitle(); }, [needs]);
}
