import type { Objects, Schemas } from "../../api/types";
import type { StatusName } from "../../status/status";

type Pod = Objects["pods"];
type ContainerStatus = Schemas["ContainerStatus"];

/** What a container is in its pod: one of those that it is for, one beside them, one that runs before them, or one that somebody has added to look closer. */
export type Sort = "main" | "sidecar" | "init" | "debug";

export interface OneContainer {
  name: string;
  sort: Sort;
  image: string | undefined;
  requests: Readonly<Record<string, string | number>>;
  status: ContainerStatus | undefined;
}

/** All containers of a pod: those that it is for come first. */
export function containersOf(pod: Pod | undefined): OneContainer[] {
  const { spec, status } = pod ?? {};
  const of = (containers: readonly (Schemas["Container"] | Schemas["EphemeralContainer"])[] | undefined, statuses: readonly ContainerStatus[] | undefined, sort: (restarts: string | undefined) => Sort) =>
    (containers ?? []).map(({ name, image, restartPolicy, resources }): OneContainer => ({
      name, sort: sort(restartPolicy), image, requests: { ...resources?.requests }, status: statuses?.find((each) => each.name === name),
    }));
  return [
    ...of(spec?.containers, status?.containerStatuses, () => "main"),
    ...of(spec?.initContainers, status?.initContainerStatuses, (restarts) => (restarts === "Always" ? "sidecar" : "init")),
    ...of(spec?.ephemeralContainers, status?.ephemeralContainerStatuses, () => "debug"),
  ];
}

/** Those that can be looked into while they run, and what was added to look closer is one of them; not what ends before the others begin. */
export function entered(pod: Pod | undefined): OneContainer[] {
  return containersOf(pod).filter(({ sort }) => sort !== "init");
}

/** How a container is, in kubectl's word and with our shape; undefined where nobody has looked yet. */
export function stateOf({ sort, status }: Pick<OneContainer, "sort" | "status">): { name: StatusName; word: string; message?: string | undefined } | undefined {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running) return { name: status?.ready === true || sort === "debug" || sort === "init" ? "ready" : "reconciling", word: "Running" };
  if (terminated) return { name: terminated.exitCode === 0 ? (sort === "init" ? "ready" : "stopped") : "stalled", word: terminated.reason ?? (terminated.exitCode === 0 ? "Completed" : "Error"), message: terminated.message };
  if (!waiting) return undefined;
  const word = waiting.reason ?? "Waiting";
  return { name: ["ContainerCreating", "PodInitializing", "Waiting"].includes(word) ? "reconciling" : "retrying", word, message: waiting.message };
}
