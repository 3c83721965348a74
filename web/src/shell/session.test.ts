import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { store } from "../live/store";
import { takeIn } from "./session";

test("one slow answer does not keep the sign-in over the page", () => {
  const client = new QueryClient();
  let asked = 0;
  const end = new QueryObserver(client, { queryKey: ["table", "pods"], initialData: "as it was", staleTime: Infinity, queryFn: () => { asked++; return new Promise<string>(() => undefined); } }).subscribe(() => undefined);
  store.setLink("expired");
  const login = { user: "ann", groups: [], method: "token" as const };
  takeIn(client, login);
  expect([client.getQueryData(["session"]), client.getQueryData(["table", "pods"]), store.link, asked]).toEqual([login, "as it was", "connecting", 1]);
  end();
});
