import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";
import { Refusal } from "../../api/client";
import type { Table } from "../../api/types";

/** So often in a row what does not arrive is asked for before the reader is told. */
const patience = 3;

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

/**
 * Tells the reader of a list that it could not be read again, so many times in a row: an answer at once, and what did not arrive when that goes
 * on. The rows stay. It returns whether to ask again soon, as nothing else does.
 */
export function tellRefusal(client: QueryClient, key: QueryKey, cause: unknown, times: number): boolean {
  if (!(cause instanceof Refusal)) return true;
  const { status } = cause.problem;
  const answered = status >= 400 && status < 500;
  if (answered || times >= patience) client.getQueryCache().find({ queryKey: key, exact: true })?.setState({ status: "error", error: cause });
  return !answered || status === 429;
}
