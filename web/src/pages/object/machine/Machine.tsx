import { useMemo } from "react";
import { objectPath, query } from "../../../api/client";
import type { Mark } from "../../../charts/Plot";
import { useSay } from "../../../i18n";
import { useObjects } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { LogView } from "../../../logs/LogView";
import { quantity } from "../../../status/quantity";
import { UsagePanel } from "../Usage";
import { Power } from "./Power";
import { Resize } from "./Resize";
import { Steps } from "./Steps";

const happened = ["Restarted", "Started", "Stopped", "Resized", "Suspended", "Resumed", "Replaced", "Crashed"];

/** What the page of a machine shows: how far it is, what it uses, and its switches. */
export function Machine({ namespace, name }: { namespace: string; name: string }) {
  const machine = useShown("virtualmachines", namespace, name);
  const events = useObjects("events", namespace);
  const marks = useMemo((): Mark[] => events
    .filter(({ involvedObject: of, reason = "" }) => of.kind === "VirtualMachine" && of.name === name && of.namespace === namespace && happened.includes(reason))
    .map((event) => ({ time: Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ""), word: (event.reason ?? "").toLowerCase() }))
    .sort((a, b) => a.time - b.time), [events, namespace, name]);
  if (!machine) return null;
  const { resource } = machine.spec ?? {};
  const limits = { cpu: quantity(resource?.["cpu"]) || undefined, memory: quantity(resource?.["memory"]) || undefined };
  return (
    <>
      <Steps machine={machine} />
      <LastWords namespace={namespace} name={name} />
      <UsagePanel path={`virtualmachines/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`} limits={limits} marks={marks} />
      <Power machine={machine} />
      <Resize machine={machine} />
    </>
  );
}

/** What a machine has printed before it ended with an error. */
function LastWords({ namespace, name }: { namespace: string; name: string }) {
  const say = useSay();
  const status = useShown("virtualmachines", namespace, name)?.status;
  const code = status?.server?.exitCode;
  const failed = status?.phase === "CrashLoopBackOff" || (code !== undefined && code !== 0 && status?.phase !== "Active");
  if (!failed) return null;
  // The count of failures makes the page read again what the next crash prints.
  const sources = [{ path: `/v1${objectPath("virtualmachines", namespace, name)}/console/output${query({ tailLines: 20 })}`, format: "text" as const }];
  return <LogView key={status?.startFailure?.count} title={say("machine.lastWords")} sub={code === undefined ? undefined : say("machine.exitCode", { code })} name={name} sources={sources} following={false} />;
}
