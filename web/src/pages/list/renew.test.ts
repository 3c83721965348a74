import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import type { Table } from "../../api/types";
import { type Data, renew } from "./renew";

const key = ["table", "pods"];

/** A list of two pages on a server that changes: its first page is in the browser. */
async function list() {
  let version = "old";
  let release: () => void = () => undefined;
  const held = new Promise<void>((done) => { release = done; });
  const page = (token: string) => Promise.resolve({ rows: [{ cells: [`${token}${version}`] }], metadata: { continue: token === "" ? "2 " : "" } } as Table);
  const client = new QueryClient();
  const observer = new InfiniteQueryObserver<Table, Error, Data, string[], string>(client, {
    queryKey: key, initialPageParam: "", retry: false, getNextPageParam: (last) => last.metadata.continue || undefined,
    queryFn: async ({ pageParam }) => { const read = await page(pageParam); if (pageParam !== "") await held; return read; },
  });
  observer.subscribe(() => undefined);
  await observer.refetch();
  const shown = () => client.getQueryData<Data>(key)?.pages.map(({ rows }) => rows[0]?.cells[0]);
  return { client, observer, page, shown, change: () => { version = "new"; }, release };
}

test("a page that is under way does not bring back older ones", async () => {
  const { client, observer, page, shown, change, release } = await list();
  const next = observer.fetchNextPage();
  change();
  const read = await renew(client, key, [0], page);
  release();
  await next;
  expect([read, shown()?.[0], shown()?.length], "while the next page is under way").toEqual([undefined, "old", 2]);
  expect(await renew(client, key, [0, 1], page)).toEqual([0, 1]);
  expect(shown()).toEqual(["new", "2 new"]);
});

test("pages that are dropped because another one is asked for meanwhile do not count as read", async () => {
  const { client, observer, page, shown, change, release } = await list();
  change();
  let next: Promise<unknown> = Promise.resolve();
  const read = await renew(client, key, [0], (token) => { next = observer.fetchNextPage(); return page(token); });
  release();
  await next;
  expect({ read, shown: shown() }).toEqual({ read: undefined, shown: ["old", "2 new"] });
});
