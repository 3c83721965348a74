import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { read } from "../../api/client";
import type { Objects, Schemas } from "../../api/types";
import { useSay } from "../../i18n";
import { useObjects } from "../../live/hooks";
import { keyOf } from "../../live/store";
import { cores, gibi } from "../../status/quantity";
import { StatusMark } from "../../status/shapes";
import { conditionsOf } from "../../status/status";

export function hostOf(machine: Objects["virtualmachines"] | undefined): string {
  return machine?.status?.server?.host ?? machine?.spec?.host ?? "";
}

/** The hosts of the machines that the caller may list, as the API adds them up. */
export function useHosts(wanted: boolean) {
  return useQuery({ queryKey: ["hosts"], enabled: wanted, refetchInterval: 10_000, retry: false, queryFn: ({ signal }) => read<Schemas["HostList"]>("/v1/hosts", { signal }) });
}

const nowhere: ReadonlyMap<string, string> = new Map();

/** The host of each machine, by its key: another map only when one of them is elsewhere. */
export function useHostsOf(wanted: boolean): ReadonlyMap<string, string> {
  const machines = useObjects("virtualmachines");
  const last = useRef(nowhere);
  return useMemo(() => {
    if (!wanted) return nowhere;
    const now = new Map(machines.map((machine) => [keyOf(machine.metadata), hostOf(machine)]));
    const before = last.current;
    if (before.size !== now.size || [...now].some(([key, host]) => before.get(key) !== host)) last.current = now;
    return last.current;
  }, [wanted, machines]);
}

/** A host: what it has given away, and whether it answers, as its machines say. Nobody tells how large it is, so there is no share. */
export function HostHead({ name, hosts }: { name: string; hosts: Schemas["HostList"] | undefined }) {
  const say = useSay();
  const machines = useObjects("virtualmachines");
  const silent = useMemo(() => {
    const own = machines.filter((machine) => hostOf(machine) === name);
    const lost = own.filter((machine) => machine.status?.phase === "Unknown");
    return own.length > 0 && lost.length === own.length ? conditionsOf(lost[0] ?? { metadata: {} }).find((condition) => condition.type === "Ready") : undefined;
  }, [machines, name]);
  const known = hosts?.hosts.filter((host) => host.name === name) ?? [];
  if (name === "") return <strong>{say("group.machines.none")}</strong>;
  const sum = (of: (host: Schemas["Host"]) => number) => known.reduce((total, host) => total + of(host), 0);
  const unsized = sum((host) => host.unsized);
  return (
    <>
      <strong>{name}</strong><span>{known.map((host) => host.driver).join(", ")}</span>
      <StatusMark status={{ name: silent ? "unknown" : "ready" }} word={say(silent ? "host.silent" : "host.answers")} />
      {silent
        ? <span className="cut" lang="en" title={silent.message}>{silent.message}</span>
        : known.length > 0 && <span>{say("host.given", { machines: sum((host) => host.machines), cpu: cores(sum((host) => host.requested.cpuCores)), memory: gibi(sum((host) => host.requested.memoryBytes)) })}{unsized > 0 && `, ${say("host.unsized", { count: unsized })}`}</span>}
    </>
  );
}
