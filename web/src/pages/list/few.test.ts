import { expect, test } from "vitest";
import { few } from "./few";

test("calls run a few at a time, and a failure lets the next one go", async () => {
  const run = few(2);
  let now = 0;
  let most = 0;
  const call = async (fails: boolean) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now--;
    if (fails) throw new Error("no");
    return "yes";
  };
  const all = await Promise.allSettled([true, false, true, false, false].map((fails) => run(() => call(fails))));
  expect(all.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(most).toBe(2);
});
