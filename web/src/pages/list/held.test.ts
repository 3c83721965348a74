import { expect, test } from "vitest";
import type { TableRow } from "./Row";
import { grown } from "./useHeldRows";

const page = (...uids: string[]) => ({ rows: uids.map((uid) => ({ cells: [uid], object: { apiVersion: "v1", kind: "Pod", metadata: { uid, name: uid } } }) as TableRow) });
const uids = (pages: readonly { rows: readonly TableRow[] }[] | undefined) => pages?.map(({ rows }) => rows.map(({ cells }) => cells[0]).join(""));
const [first, second] = [page("a", "b"), page("c", "d")];
type Pages = ReturnType<typeof page>[] | undefined;

const cases: Record<string, { shown: Pages; now: Pages; is: string[] | undefined }> = {
  "a page that was scrolled to comes behind those that are held": { shown: [first], now: [first, second], is: ["ab", "cd"] },
  "it also does where what is held has changed meanwhile, which waits": { shown: [first], now: [page("a", "x"), second], is: ["ab", "cd"] },
  "a row that has moved on to that page is there once": { shown: [first], now: [page("_", "a"), page("b", "c")], is: ["ab", "c"] },
  "rows come and go in no page that is held": { shown: [first, second], now: [page("a", "x"), page("b", "c")], is: ["ab", "cd"] },
  "a list that has become shorter stays": { shown: [first, second], now: [first], is: ["ab", "cd"] },
  "what comes first is shown": { shown: undefined, now: [first], is: ["ab"] },
};

test.each(Object.entries(cases))("%s", (_, { shown, now, is }) => expect(uids(grown(shown, now))).toEqual(is));

test("where nothing that is held is another, nothing waits", () => {
  const now = [first, second];
  expect(grown([first], now)).toBe(now);
  expect(grown([first, second], now)).toBe(now);
});
