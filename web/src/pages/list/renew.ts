import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";
import type { Table } from "../../api/types";

export type Data = InfiniteData<Table, string>;

/**
 * Reads pages again. A page begins where the one before it ended: where that end has moved, the next page is read as well, so that no
 * row is missing or there twice.
 */
async function readAgain(data: Data, wanted: readonly number[], page: (token: string) => Promise<Table>): Promise<{ data: Data; read: number[] }> {
  const pages = [...data.pages];
  const pageParams = [...data.pageParams];
  const read: number[] = [];
  const left = new Set(wanted);
  for (let index = 0; index < pages.length; index++) {
    if (!left.has(index)) continue;
    const now = await page(pageParams[index] ?? "");
    const end = now.metadata.continue ?? "";
    pages[index] = now;
    read.push(index);
    if (end === "") pages.length = pageParams.length = index + 1;
    else if (index + 1 < pages.length && end !== pageParams[index + 1]) {
      pageParams[index + 1] = end;
      left.add(index + 1);
    }
  }
  return { data: { pages, pageParams }, read };
}

/**
 * Reads pages again and puts them into the list. It returns which it has read, and nothing where a further page is under way: that is put
 * behind the pages that were there when it was asked for, and what is read of these meanwhile would be lost.
 */
export async function renew(client: QueryClient, key: QueryKey, wanted: readonly number[], page: (token: string) => Promise<Table>): Promise<number[] | undefined> {
  const busy = () => client.isFetching({ queryKey: key, exact: true }) > 0;
  const before = client.getQueryData<Data>(key);
  if (!before || busy()) return undefined;
  const { data, read } = await readAgain(before, wanted, page);
  if (busy() || client.getQueryData<Data>(key) !== before) return undefined;
  client.setQueryData<Data>(key, data);
  return read;
}
