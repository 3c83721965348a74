import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { Refusal } from "./client";
import { isPassing, lasting, whilePassing } from "./passing";

const refused = (status: number) => new Refusal({ type: "about:blank", code: "Test", title: "no", status });

test.each([[0, true, true], [401, true, false], [408, true, true], [429, true, true], [500, true, true], [503, true, true], [400, false, false], [403, false, false], [409, false, false], [422, false, false]])(
  "a refusal with %d is only for the moment: %s, and is asked again by itself: %s", (status, passing, again) => {
    expect([isPassing(refused(status)), whilePassing({ state: { error: refused(status) } }) !== false]).toEqual([passing, again]);
  },
);

test("what was answered is not asked again", () => expect([isPassing(undefined), whilePassing({ state: { error: null } })]).toEqual([false, false]));

test("what cannot be answered now is said all the while that it is asked again", async () => {
  const client = new QueryClient();
  const answers = [refused(429), refused(429), refused(422), refused(422)];
  const query = new QueryObserver(client, { queryKey: ["asked"], retry: false, enabled: false, queryFn: () => Promise.reject(answers.shift() ?? new Error("asked too often")) });
  let last: ReturnType<typeof lasting> | undefined;
  const said: (number | undefined)[] = [];
  const stop = query.subscribe(({ error, fetchStatus }) => {
    last = lasting(last, { of: "asked", error }, fetchStatus === "idle");
    const now = last.error instanceof Refusal ? last.error.problem.status : undefined;
    if (said.length === 0 || said.at(-1) !== now) said.push(now);
  });
  for (let attempt = 0; attempt < 4; attempt++) await query.refetch();
  stop();
  client.clear();
  expect(said, "and what is refused for good is not").toEqual([undefined, 429, 422, undefined, 422]);
});

test("a refusal is not said of another question", () => {
  const error = refused(503);
  const before = lasting(undefined, { of: "a", error }, true);
  expect([lasting(before, { of: "a", error: null }, false).error, lasting(before, { of: "b", error: null }, false).error, lasting(before, { of: "a", error: null }, true).error]).toEqual([error, null, null]);
});
