import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { query, read } from "../../api/client";
import type { Plural, Table } from "../../api/types";
import { store } from "../../live/store";
import { parse } from "./filter";

/** How many rows come at a time. */
export const pageSize = 500;

/**
 * The table of a kind, with the columns of kubectl. The server filters and sorts; the stream says when to ask again, at most once a
 * second. Rows keep their places meanwhile: only cells change.
 */
export function useTable(plural: Plural, namespace: string | undefined, filter: string, sort: string | undefined) {
  const client = useQueryClient();
  const { words, labels, fields } = parse(filter);
  const key = ["table", plural, namespace ?? "", words, labels, fields, sort ?? ""];
  const known = useRef(key);
  known.current = key;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: known.current });
      }, 1000);
    };
    const end = store.subscribe(plural, again);
    return () => { end(); clearTimeout(timer); };
  }, [client, plural]);
  return useInfiniteQuery({
    queryKey: key,
    initialPageParam: "",
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => read<Table>(`/v1/tables/${plural}${query({
      ns: namespace, q: words, labelSelector: labels, fieldSelector: fields, sort, limit: pageSize, continue: pageParam,
    })}`, { signal }),
    getNextPageParam: (last) => last.metadata.continue || undefined,
  });
}
