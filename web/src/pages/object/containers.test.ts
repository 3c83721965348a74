import { expect, test } from "vitest";
import type { Objects, Schemas } from "../../api/types";
import { containersOf, entered, stateOf } from "./containers";

const status = (name: string, state: object, more = {}): Schemas["ContainerStatus"] => ({ name, image: "", imageID: "", ready: false, restartCount: 0, state: state as Schemas["ContainerState"], ...more });
const pod = {
  spec: {
    containers: [{ name: "main", image: "app:1", resources: { requests: { cpu: "1" } } }],
    initContainers: [{ name: "first" }, { name: "proxy", restartPolicy: "Always" }],
    ephemeralContainers: [{ name: "shell-x1" }],
  },
  status: { containerStatuses: [status("main", { running: {} }, { ready: true })], ephemeralContainerStatuses: [status("shell-x1", { running: {} })] },
} as unknown as Objects["pods"];

test("a terminal opens in the tool that was added to a pod, and not in what has ended before it began", () => {
  expect(entered(pod).map(({ name }) => name)).toEqual(["main", "proxy", "shell-x1"]);
  expect(entered(undefined)).toEqual([]);
});

test("a container has what it is for, its status and its requests", () => {
  expect(containersOf(pod).map(({ name, sort }) => `${name} ${sort}`)).toEqual(["main main", "first init", "proxy sidecar", "shell-x1 debug"]);
  expect(containersOf(pod)[0]).toMatchObject({ image: "app:1", requests: { cpu: "1" }, status: { ready: true } });
});

test.each([
  ["runs and is ready", { running: {} }, { ready: true }, "ready", "Running"],
  ["runs and is not ready yet", { running: {} }, {}, "reconciling", "Running"],
  ["is made", { waiting: { reason: "ContainerCreating" } }, {}, "reconciling", "ContainerCreating"],
  ["crashes again and again", { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } }, {}, "retrying", "CrashLoopBackOff"],
  ["has ended well", { terminated: { exitCode: 0, reason: "Completed" } }, {}, "stopped", "Completed"],
  ["was killed", { terminated: { exitCode: 137, reason: "OOMKilled" } }, {}, "stalled", "OOMKilled"],
])("a container that %s says so", (_, state, more, name, word) => {
  expect(stateOf({ sort: "main", status: status("main", state, more) })).toMatchObject({ name, word });
});

test("of a container that nobody has looked at, nothing is said", () => expect(stateOf({ sort: "main", status: undefined })).toBeUndefined());
