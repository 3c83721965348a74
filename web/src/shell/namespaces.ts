import { useMemo } from "react";
import { useQuery } from "@tanstack/react-query";
import { read } from "../api/client";
import type { Schemas } from "../api/types";
import { useFilled, useObjects } from "../live/hooks";
import { useListsAll } from "./session";

/** The names of the namespaces that are there for the caller. Who may read objects of a namespace, and not the namespace itself, knows it from their rights. */
export function useNamespaceNames(): readonly string[] {
  const namespaces = useObjects("namespaces");
  const partly = useListsAll("namespaces") !== true;
  const filled = useFilled();
  const mine = useQuery({ queryKey: ["me"], enabled: filled && partly, staleTime: 30_000, queryFn: () => read<Schemas["Me"]>("/v1/me") }).data?.namespaces;
  return useMemo(() => [...new Set([...namespaces.map((each) => each.metadata.name ?? ""), ...(mine ?? [])])].filter((name) => name !== "").sort(), [namespaces, mine]);
}
