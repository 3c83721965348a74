import { expect, test } from "vitest";
import type { Schemas } from "../api/types";
import { requestsOfSpec } from "./requests";

const of = (requests: Record<string, string>, more = {}) => ({ name: "c", resources: { requests }, ...more });

// The rows of TestRequests in internal/why: the map and the explanation beside it count the same.
const cases: Record<string, { spec: Partial<Schemas["PodSpec"]>; want: Record<string, number> }> = {
  "nothing is requested": { spec: { containers: [of({ cpu: "0" })] }, want: { cpu: 0, memory: 0 } },
  "containers add up": { spec: { containers: [of({ cpu: "1", memory: "1Gi" }), of({ cpu: "500m" })] }, want: { cpu: 1.5, memory: 2 ** 30 } },
  "a limit without a request is a request": { spec: { containers: [of({ cpu: "1" }, { resources: { requests: { cpu: "1" }, limits: { cpu: "2", "nvidia.com/gpu": "1" } } })] }, want: { cpu: 1, memory: 0, "nvidia.com/gpu": 1 } },
  "an init container runs alone, beside the sidecars before it": {
    spec: { initContainers: [of({ cpu: "1" }), of({ cpu: "1" }, { restartPolicy: "Always" }), of({ cpu: "3" })], containers: [of({ cpu: "2", memory: "1Gi" })] }, want: { cpu: 4, memory: 2 ** 30 },
  },
  "sidecars run beside the containers": { spec: { initContainers: [of({ cpu: "1" }, { restartPolicy: "Always" })], containers: [of({ cpu: "2" })] }, want: { cpu: 3, memory: 0 } },
  "the overhead of the RuntimeClass counts": { spec: { containers: [of({ cpu: "1" })], overhead: { cpu: "250m", memory: "1Gi" } }, want: { cpu: 1.25, memory: 2 ** 30 } },
  "requests of the pod as a whole take the place of those of its containers": { spec: { containers: [of({ cpu: "1" })], resources: { requests: { cpu: "4" }, limits: { memory: "1Gi", cpu: "8" } } }, want: { cpu: 4, memory: 2 ** 30 } },
  "a limit of the pod is no request of what a container requests none of": { spec: { containers: [of({ cpu: "0" })], resources: { limits: { cpu: "8" } } }, want: { cpu: 0, memory: 0 } },
};

test.each(Object.entries(cases))("%s", (_, { spec, want }) => expect(requestsOfSpec({ containers: [], ...spec } as Schemas["PodSpec"])).toEqual(want));
