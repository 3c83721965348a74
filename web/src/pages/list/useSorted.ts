import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { Objects, Plural, Table } from "../../api/types";
import { useSlowly } from "../../live/hooks";
import { store } from "../../live/store";
import { useListsAll } from "../../shell/session";
import { allColumns } from "./columns";
import { keyOfRow } from "./names";
import { ownValue, resources } from "./own";
import { inOrder, orderOf } from "./sorting";

const none: readonly never[] = [];

/** The objects of a kind where the order is made of them, at most once a second: none where it is not, so that nothing is done for their changes. */
function useWanted<K extends Plural>(kind: K, wanted: boolean): readonly Objects[K][] {
  const now = useSyncExternalStore(
    useCallback((call: () => void) => (wanted ? store.subscribe(kind, call) : () => undefined), [kind, wanted]),
    () => (wanted ? store.list(kind) : none),
  );
  const lately = useSlowly(now, 1000);
  // Those that were not wanted until now are there at once.
  return lately === none ? now : lately;
}

type Page = Omit<Table, "rows"> & { rows: readonly Table["rows"][number][] };

/** The pages of a list in the order that is asked for. The server sorts by name and age; a list of one page is sorted here by any of its columns. */
export function useSorted(plural: Plural, { data, hasNextPage }: { data: { pages: readonly Table[] } | undefined; hasNextPage: boolean }, sort: string | undefined) {
  const pages = data?.pages;
  const whole = pages?.length === 1 && !hasNextPage;
  const order = orderOf(sort, whole);
  const by = plural === "nodes" ? (order ?? "").replace(/^-/, "") : "";
  const pods = useWanted("pods", resources[by] !== undefined);
  const pools = useWanted("nodepools", by === "Pools");
  const measured = useListsAll("pods") === true;
  const sorted = useMemo((): readonly Page[] | undefined => {
    const [page] = pages ?? [];
    if (!page || !whole) return pages;
    const rows = inOrder(page.rows, allColumns(plural, page.columnDefinitions), order, (column, row) => ownValue(column, store.at("nodes", keyOfRow(row)), { pods: measured ? pods : undefined, pools }));
    return rows === page.rows ? pages : [{ ...page, rows }];
  }, [pages, whole, plural, order, pods, pools, measured]);
  return { pages: sorted, order, whole };
}
