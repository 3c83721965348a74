import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { read } from "../../api/client";
import type { Condition, Objects, Schemas } from "../../api/types";
import { useLanguage } from "../../i18n";
import { useObjects } from "../../live/hooks";
import { keyOf, store } from "../../live/store";
import { clock } from "../../status/age";
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
const none: readonly Objects["virtualmachines"][] = [];

/** The host of each machine, by its key: another map only when one of them is elsewhere. */
export function useHostsOf(wanted: boolean): ReadonlyMap<string, string> {
  const machines = useObjects("virtualmachines");
  const last = useRef({ machines: none, hosts: nowhere });
  return useMemo(() => {
    if (!wanted) return nowhere;
    last.current = { machines, hosts: hostsOf(last.current, machines) };
    return last.current.hosts;
  }, [wanted, machines]);
}

/** Most machines are the same object as before: there can be thousands, and this is asked for at each change of one. */
export function hostsOf(before: { machines: readonly Objects["virtualmachines"][]; hosts: ReadonlyMap<string, string> }, machines: readonly Objects["virtualmachines"][]): ReadonlyMap<string, string> {
  const same = before.machines.length === machines.length && machines.every((machine, at) => {
    const old = before.machines[at];
    return machine === old || (old !== undefined && keyOf(machine.metadata) === keyOf(old.metadata) && hostOf(machine) === hostOf(old));
  });
  return same ? before.hosts : new Map(machines.map((machine) => [keyOf(machine.metadata), hostOf(machine)]));
}

/** Why a host does not answer, by its name: all of its machines are unknown. By the list of all, because each host in sight asks for it. */
const silences = new WeakMap<readonly Objects["virtualmachines"][], ReadonlyMap<string, Condition | undefined>>();

export function silentOf(machines: readonly Objects["virtualmachines"][]): ReadonlyMap<string, Condition | undefined> {
  let silent = silences.get(machines);
  if (!silent) {
    const answers = new Set<string>();
    const lost = new Map<string, Objects["virtualmachines"]>();
    for (const machine of machines) {
      const host = hostOf(machine);
      if (machine.status?.phase !== "Unknown") answers.add(host);
      else if (!lost.has(host)) lost.set(host, machine);
    }
    silent = new Map([...lost].filter(([host]) => !answers.has(host)).map(([host, machine]) => [host, conditionsOf(machine).find((condition) => condition.type === "Ready")]));
    silences.set(machines, silent);
  }
  return silent;
}

/** A host: what it has given away, and whether it answers, as its machines say. Nobody tells how large it is, so there is no share. */
export function HostHead({ name, hosts }: { name: string; hosts: Schemas["HostList"] | undefined }) {
  const { say, language } = useLanguage();
  const machines = useObjects("virtualmachines");
  const silent = silentOf(machines).get(name);
  const known = hosts?.hosts.filter((host) => host.name === name) ?? [];
  if (name === "") return <strong>{say("group.machines.none")}</strong>;
  const sum = (of: (host: Schemas["Host"]) => number) => known.reduce((total, host) => total + of(host), 0);
  const unsized = sum((host) => host.unsized);
  return (
    <>
      <strong>{name}</strong><span>{known.map((host) => host.driver).join(", ")}</span>
      <StatusMark status={{ name: silent ? "unknown" : "ready" }} word={say(silent ? "host.silent" : "host.answers")} />
      {silent
        ? <span className="said">{silent.lastTransitionTime && <span className="dim">{say("host.since", { time: clock(silent.lastTransitionTime, language, store.time) })} </span>}<span lang="en">{silent.message}</span></span>
        : known.length > 0 && <span>{say("host.given", { machines: sum((host) => host.machines), cpu: cores(sum((host) => host.requested.cpuCores)), memory: gibi(sum((host) => host.requested.memoryBytes)) })}{unsized > 0 && `, ${say("host.unsized", { count: unsized })}`}</span>}
    </>
  );
}
