import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { query, read, Refusal } from "../../api/client";
import type { Plural, Table } from "../../api/types";
import { useAnswered, useDenied } from "../../live/hooks";
import { store } from "../../live/store";
import type { Filter } from "./filter";
import { type Data, renew, tellRefusal } from "./renew";

/** How many rows come at a time. */
export const pageSize = 500;
/** What rows have of their objects, beside the names: the stream has the rest. */
const shown = "metadata.creationTimestamp";
/** How long changes are collected before the server is asked again, in milliseconds. */
const collect = 1000;
/** How often a list that the caller may not see is asked for again. */
const shut = 5000;

/** The rows that a reader sees, by their places in the whole list. */
export interface Sight {
  from: number;
  until: number;
}

/** The pages that have the rows in sight. */
export function pagesIn(pages: readonly Pick<Table, "rows">[], sight: Sight): number[] {
  let from = 0;
  return pages.flatMap((page, index) => {
    const until = from + page.rows.length;
    const seen = from <= sight.until && until >= sight.from;
    from = until;
    return seen ? [index] : [];
  });
}

/**
 * The table of a kind, with the columns of kubectl. The server filters and sorts; the stream says when to ask again, at most once a
 * second, and only for the pages in sight: the others are asked for when somebody scrolls to them.
 */
export function useTable(plural: Plural, namespace: string | undefined, filter: Filter, sort: string | undefined, enabled: boolean) {
  const client = useQueryClient();
  const { words, labels, fields } = filter;
  const key = ["table", plural, namespace ?? "", words, labels, fields, sort ?? ""];
  const sight = useRef<Sight>({ from: 0, until: pageSize });
  /** How often something has changed, and at which of these each page was read. */
  const changes = useRef(0);
  const readAt = useRef<number[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const page = (token: string, signal?: AbortSignal) => read<Table>(`/v1/tables/${plural}${query({
    ns: namespace, q: words, labelSelector: labels, fieldSelector: fields, sort, limit: pageSize, continue: token, fields: shown,
  })}`, signal ? { signal } : {});
  const old = (data: Data | undefined) => (data ? pagesIn(data.pages, sight.current).filter((index) => (readAt.current[index] ?? 0) < changes.current) : []);

  const refresh = useRef(() => Promise.resolve(false));
  refresh.current = async () => {
    const wanted = old(client.getQueryData<Data>(key));
    if (wanted.length === 0) return false;
    const at = changes.current;
    const read = await renew(client, key, wanted, page);
    for (const index of read ?? []) readAt.current[index] = at;
    failures.current = 0;
    return read === undefined || old(client.getQueryData<Data>(key)).length > 0;
  };

  const failures = useRef(0);
  const fail = useRef<(cause: unknown) => boolean>(() => true);
  fail.current = (cause) => tellRefusal(client, key, cause, ++failures.current);

  const schedule = useCallback((wait: number) => {
    timer.current ??= setTimeout(() => {
      const begun = performance.now();
      const next = (more: boolean) => {
        timer.current = undefined;
        // A server that takes long, or refuses, is asked less often.
        if (more) schedule(Math.min(10_000, Math.max(collect * 2 ** failures.current, 3 * (performance.now() - begun))));
      };
      refresh.current().then(next, (cause: unknown) => next(fail.current(cause)));
    }, wait);
  }, []);

  useEffect(() => {
    const end = store.subscribe(plural, () => { changes.current++; schedule(collect); });
    return () => { end(); clearTimeout(timer.current); timer.current = undefined; };
  }, [plural, schedule]);

  // Answers believe a right for seconds after the stream has heard that it is gone, and nothing more is told of what nobody may see.
  const denied = useDenied(plural, namespace);
  const table = useInfiniteQuery({
    queryKey: key, initialPageParam: "", placeholderData: keepPreviousData, enabled,
    queryFn: ({ pageParam, signal }) => page(pageParam, signal),
    getNextPageParam: (last) => last.metadata.continue || undefined,
    // A page that somebody may not see opens by itself when they may.
    refetchInterval: ({ state }) => (denied || (state.error instanceof Refusal && state.error.problem.status === 403) ? shut : false),
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = table;
  const loaded = table.data?.pages.reduce((sum, each) => sum + each.rows.length, 0) ?? 0;
  const total = loaded + (table.data?.pages.at(-1)?.metadata.remainingItemCount ?? 0);
  const look = useCallback((at: Sight) => {
    sight.current = at;
    // A page that was refused is not asked for again by itself: it would be without end.
    if (hasNextPage && !isFetching && !isError && at.until > loaded - pageSize / 2) void fetchNextPage();
    if (changes.current > 0) schedule(collect / 4);
  }, [hasNextPage, isFetching, isError, fetchNextPage, loaded, schedule]);
  const asked = JSON.stringify(key);
  const of = useAnswered(asked, table.isPlaceholderData);
  return { ...table, asked, of, loaded, total, look };
}
