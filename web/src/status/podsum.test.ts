import { expect, test } from "vitest";
import type { Objects } from "../api/types";
import { sumOf } from "./podsum";

const running = { state: { running: {} }, ready: true, started: true };
const crashed = (finishedAt: string) => ({ lastState: { terminated: { exitCode: 1, finishedAt } } });
const pod = (initContainerStatuses: object[], containerStatuses: object[], conditions: object[] = []) => ({
  spec: { containers: [{ name: "main" }], initContainers: [{ name: "first" }, { name: "proxy", restartPolicy: "Always" }] },
  status: { conditions, initContainerStatuses, containerStatuses },
}) as unknown as Objects["pods"];

const first = { name: "first", restartCount: 2, ready: true, state: { terminated: { exitCode: 0 } }, ...crashed("2026-01-01T00:00:00Z") };
const proxy = { name: "proxy", restartCount: 5, ...running, ...crashed("2026-01-01T00:05:00Z") };
const main = { name: "main", restartCount: 1, ...running, ...crashed("2026-01-01T00:03:00Z") };

test("sidecars count as containers do", () => {
  expect(sumOf(pod([first, proxy], [main]))).toEqual({ ready: 2, total: 2, restarts: 6, since: "2026-01-01T00:05:00Z" });
  expect(sumOf(pod([first, { ...proxy, ready: false }], [main]))).toMatchObject({ ready: 1, total: 2 });
});

test("until they are done, init containers are what is counted", () => {
  const waits = { name: "main", restartCount: 0, ready: false, started: false, state: { waiting: { reason: "PodInitializing" } } };
  expect(sumOf(pod([{ ...first, state: { waiting: { reason: "CrashLoopBackOff" } } }, { ...proxy, restartCount: 0, started: false, ready: false, lastState: {} }], [waits]))).toEqual({ ready: 0, total: 2, restarts: 2, since: "2026-01-01T00:00:00Z" });
});

test("a sidecar that crashes later does not hide the containers of a pod that is initialized", () => {
  const down = { ...proxy, ready: false, started: false, state: { waiting: { reason: "CrashLoopBackOff" } } };
  expect(sumOf(pod([first, down], [main], [{ type: "Initialized", status: "True" }]))).toMatchObject({ ready: 1, total: 2, restarts: 6 });
});

test("a pod that nobody has begun with has nothing yet", () => {
  expect(sumOf({ spec: { containers: [{ name: "main" }] } } as unknown as Objects["pods"])).toEqual({ ready: 0, total: 1, restarts: 0, since: undefined });
});
