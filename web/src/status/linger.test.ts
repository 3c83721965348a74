import { expect, test } from "vitest";
import { linger } from "./linger";
import type { Matter } from "./order";

function matter(name: string): Matter {
  return { plural: "nodes", status: { name: "stalled" }, objects: [{ metadata: { name, uid: name } }] };
}

const names = (rows: readonly Matter[]) => rows.map((row) => `${row.objects[0]?.metadata.name ?? ""} ${row.status.name}`);
const ready = () => true;

test("what is solved stays in its place as Ready for ten seconds", () => {
  const all = [matter("a"), matter("b"), matter("c")];
  const [a, , c] = all;
  if (!a || !c) throw new Error("no rows");
  const solved = linger(all, [a, c], ready, 1000);
  expect(names(solved)).toEqual(["a stalled", "b ready", "c stalled"]);
  expect(names(linger(solved, [a, c], ready, 10_999))).toEqual(["a stalled", "b ready", "c stalled"]);
  expect(names(linger(solved, [a, c], ready, 11_000))).toEqual(["a stalled", "c stalled"]);
});

test("what was deleted is not solved", () => expect(linger([matter("a")], [], () => false, 0)).toEqual([]));

test("what breaks again is in its own row and nowhere else", () => {
  const solved = linger([matter("a")], [], ready, 0);
  expect(names(linger(solved, [matter("a")], ready, 5000))).toEqual(["a stalled"]);
});
