import { expect, test } from "vitest";
import { progressOf } from "./progress";

const now = Date.parse("2026-11-22T10:42:07Z");
const of = (status: object, spec: object = {}) => ({ metadata: { name: "a" }, spec, status });

test.each([
  ["a rollout", "nodepools", of({ nodeCount: 13, rollout: { nodes: ["b"], waitingNodeCount: 3 } }), { key: "progress.nodes", values: { done: 9, count: 13 } }],
  ["a pool without a rollout under way", "nodepools", of({ nodeCount: 13, rollout: {} }), undefined],
  ["a machine that starts again", "virtualmachines", of({ startFailure: { count: 4, retryAfter: "2026-11-22T10:43:29Z" } }), { key: "progress.failed", values: { count: 4, time: "82s" } }],
  ["a machine whose time has come", "virtualmachines", of({ startFailure: { count: 4, retryAfter: "2026-11-22T10:42:00Z" } }), { key: "progress.due", values: { count: 4, time: "" } }],
  ["a machine that is made", "virtualmachines", of({}), undefined],
  ["a run", "clusters", of({ nextRetryTime: "2026-11-22T10:40:00Z", lastOperation: { id: "up-1", attempt: 2, startTime: "2026-11-22T10:35:55Z" } }), { key: "progress.run", values: { id: "up-1", time: "6m12s" } }],
  ["a run that is tried again", "clusters", of({ nextRetryTime: "2026-11-22T10:50:07Z", lastOperation: { id: "up-1", attempt: 2, startTime: "2026-11-22T10:35:55Z", endTime: "2026-11-22T10:36:00Z" } }), { key: "progress.failed", values: { count: 2, time: "8m" } }],
  ["pods", "podsets", of({ availableReplicas: 4 }, { size: 6 }), { key: "progress.pods", values: { done: 4, count: 6 } }],
  ["pods of a Deployment that shrinks", "deployments", of({ availableReplicas: 4 }, { replicas: 3 }), { key: "progress.pods", values: { done: 3, count: 3 } }],
  ["what says nothing of it", "kubeconfigs", of({}), undefined],
] as const)("%s", (_, plural, object, want) => expect(progressOf(plural, object, now)).toEqual(want));
