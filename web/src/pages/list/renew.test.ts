import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { Refusal } from "../../api/client";
import type { Table } from "../../api/types";
import { type Data, renew, tellRefusal } from "./renew";

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

const failures: Record<string, { status: number; times: number; told: boolean; again: boolean }> = {
  "a right that was taken away is told at once, and the list opens by itself": { status: 403, times: 1, told: true, again: false },
  "a server that is asked too much is told at once, and asked again": { status: 429, times: 1, told: true, again: true },
  "a server that stumbles is asked again": { status: 503, times: 1, told: false, again: true },
  "a server that goes on to fail is told": { status: 503, times: 3, told: true, again: true },
};

test.each(Object.entries(failures))("%s", async (_, { status, times, told, again }) => {
  const { client, page, shown } = await list();
  const cause = new Refusal({ type: "about:blank", code: "No", title: "No", status });
  expect(tellRefusal(client, key, cause, times)).toBe(again);
  expect(client.getQueryState(key)?.error ?? undefined).toBe(told ? cause : undefined);
  expect(shown(), "the rows stay").toEqual(["old"]);
  await renew(client, key, [0], page);
  expect(client.getQueryState(key)?.error, "once it is read again").toBeNull();
});
