import { useQuery } from "@tanstack/react-query";
import { read } from "../api/client";

/** The schema of a kind, as the API server publishes it. */
export function useSchema(plural: string | undefined): unknown {
  return useQuery({ queryKey: ["schema", plural ?? ""], queryFn: ({ signal }) => read<unknown>(`/v1/kinds/${plural ?? ""}/schema`, { signal }), staleTime: Infinity, enabled: plural !== undefined }).data;
}
