import { keepPreviousData, QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { answerOf } from "./answer";

test("what an earlier word has found is not what Enter opens", async () => {
  const answers = new Map<string, (found: string[] | Error) => void>();
  const options = (words: string) => ({
    queryKey: ["search", words], enabled: words !== "", retry: false, placeholderData: keepPreviousData<string[]>,
    queryFn: () => new Promise<string[]>((done, fail) => { answers.set(words, (found) => { if (found instanceof Error) fail(found); else done(found); }); }),
  });
  const observer = new QueryObserver<string[]>(new QueryClient(), options(""));
  const end = observer.subscribe(() => undefined);
  let asked = "";
  const ask = (words: string) => { asked = words; observer.setOptions(options(words)); };
  const tell = async (found: string[] | Error) => { answers.get(asked)?.(found); await new Promise((done) => { setTimeout(done, 10); }); };
  const now = (words = asked, shown = observer.getCurrentResult().data !== undefined) => [answerOf(words, asked, observer.getCurrentResult(), shown), observer.getCurrentResult().data];

  expect(now(), "pages, before anything is typed").toEqual(["there", undefined]);
  ask("w");
  expect(now(), "nothing to open yet").toEqual(["pending", undefined]);
  expect(now("w", true), "a page of that name").toEqual(["there", undefined]);
  await tell(["web-a"]);
  expect(now("w ")).toEqual(["there", ["web-a"]]);
  expect(now("worker-7"), "typed, and not asked for yet").toEqual(["pending", ["web-a"]]);
  ask("worker-7");
  expect(now()).toEqual(["pending", ["web-a"]]);
  await tell(["worker-7"]);
  expect(now()).toEqual(["there", ["worker-7"]]);
  ask("worker-8");
  await tell(new Error("the server does not answer"));
  expect(now()).toEqual(["failed", undefined]);
  end();
});
