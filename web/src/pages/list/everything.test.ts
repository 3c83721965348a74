import { expect, test } from "vitest";
import { everything, type Paged } from "./everything";

/** A table with so many pages, of which one is refused; each page that is asked for is told. */
function table(pages: number, refused = Infinity, asked: (page: number) => void = () => undefined): Paged<number> {
  const of = (there: number, error: Error | null): Paged<number> => ({
    data: there, hasNextPage: there < pages, isError: error !== null, error,
    fetchNextPage: () => {
      asked(there + 1);
      return Promise.resolve(there + 1 === refused ? of(there, new Error("too many requests")) : of(there + 1, null));
    },
  });
  return of(1, null);
}

test("all pages are read", async () => {
  expect(await everything(table(3), () => true)).toMatchObject({ data: 3, isError: false });
});

test("a page that is refused is asked for again and again", async () => {
  const asked: number[] = [];
  const end = everything(table(3, 2, (page) => { if (asked.push(page) > 9) throw new Error("it does not end"); }), () => true);
  expect(await end).toMatchObject({ data: 1, isError: true, error: new Error("too many requests") });
  expect(asked).toEqual([2]);
});

test("pages of a filter that has changed are read on, and selected", async () => {
  const asked: number[] = [];
  expect(await everything(table(5, Infinity, (page) => asked.push(page)), () => asked.length < 2)).toBeUndefined();
  expect(asked).toEqual([2, 3]);
});

test("a filter that changes while the last page comes has its rows selected", async () => {
  const asked: number[] = [];
  expect(await everything(table(2, Infinity, (page) => asked.push(page)), () => asked.length < 1)).toBeUndefined();
});
