import { useMemo } from "react";
import type { Plural, Table } from "../../api/types";
import { store } from "../../live/store";
import { allColumns } from "./columns";
import { keyOfRow } from "./names";
import { ownValue } from "./own";
import { inOrder, orderOf } from "./sorting";

type Page = Omit<Table, "rows"> & { rows: readonly Table["rows"][number][] };

/** The pages of a list in the order that is asked for. The server sorts by name and age; a list of one page is sorted here by any of its columns. */
export function useSorted(plural: Plural, { data, hasNextPage }: { data: { pages: readonly Table[] } | undefined; hasNextPage: boolean }, sort: string | undefined) {
  const pages = data?.pages;
  const whole = pages?.length === 1 && !hasNextPage;
  const order = orderOf(sort, whole);
  const sorted = useMemo((): readonly Page[] | undefined => {
    const [page] = pages ?? [];
    if (!page || !whole) return pages;
    const rows = inOrder(page.rows, allColumns(plural, page.columnDefinitions), order, (column, row) => ownValue(column, store.at(plural, keyOfRow(row))));
    return rows === page.rows ? pages : [{ ...page, rows }];
  }, [pages, whole, plural, order]);
  return { pages: sorted, order, whole };
}
