import type { Objects } from "../api/types";

/** What the containers of a pod add up to. */
export interface PodSum {
  ready: number;
  total: number;
  restarts: number;
  /** When one of them ended last and was started again. */
  since: string | undefined;
}

/** What kubectl adds up of a pod: its containers with the sidecars beside them, or its init containers until the last of them is done. */
export function sumOf({ spec, status }: Objects["pods"]): PodSum {
  const sidecars = new Set((spec?.initContainers ?? []).flatMap(({ name, restartPolicy }) => (restartPolicy === "Always" ? [name] : [])));
  const init = status?.initContainerStatuses ?? [];
  const main = status?.containerStatuses ?? [];
  const beside = init.filter(({ name }) => sidecars.has(name));
  const done = init.every(({ name, state, started }) => state?.terminated?.exitCode === 0 || (sidecars.has(name) && started === true));
  const initialized = done || status?.conditions?.some(({ type, status: is }) => type === "Initialized" && is === "True") === true;
  const counted = initialized ? [...beside, ...main] : init;
  return {
    ready: beside.filter(({ ready, started }) => ready && started === true).length + (initialized ? main.filter(({ ready, state }) => ready && state?.running !== undefined).length : 0),
    total: (spec?.containers?.length ?? 0) + sidecars.size,
    restarts: counted.reduce((sum, { restartCount }) => sum + restartCount, 0),
    since: counted.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []).sort().at(-1),
  };
}
