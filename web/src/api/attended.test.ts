import { afterEach, expect, test, vi } from "vitest";
import { attend } from "./attended";
import { send } from "./client";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("what a page asks for by itself does not keep its reader signed in", async () => {
  vi.useFakeTimers();
  const sent: RequestInit[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(init);
    return Promise.resolve(new Response("{}"));
  });
  const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const page = Object.assign(new EventTarget(), { document });
  attend(page as unknown as Window);
  const unattended = async (method: "GET" | "POST" = "GET") => {
    await send("/v1/hosts", { method });
    return new Headers(sent.at(-1)?.headers).has("Windlass-Unattended");
  };

  page.dispatchEvent(new Event("keydown"));
  vi.advanceTimersByTime(30_000);
  expect(await unattended()).toBe(false);
  vi.advanceTimersByTime(30_000);
  expect(await unattended()).toBe(true);
  // What somebody has ordered goes on in their name, such as a drain.
  expect(await unattended("POST")).toBe(false);
  page.dispatchEvent(new Event("wheel"));
  expect(await unattended()).toBe(false);
  vi.advanceTimersByTime(60_000);
  document.visibilityState = "hidden";
  document.dispatchEvent(new Event("visibilitychange"));
  expect(await unattended()).toBe(true);
  document.visibilityState = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
  expect(await unattended()).toBe(false);
});
