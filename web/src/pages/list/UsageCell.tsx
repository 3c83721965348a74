import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { objectPath, read } from "../../api/client";
import type { KubeObject, Usage } from "../../api/types";
import { Sparkline } from "../../charts/Sparkline";
import { extremes, type Sample } from "../../charts/series";
import { useSay } from "../../i18n";
import { useObject } from "../../live/hooks";
import { gibi, quantity } from "../../status/quantity";
import { few } from "./few";

/** A point is for a minute: asking more often tells nothing. */
const every = 60_000;
/** So many rows ask at once: a browser has six connections to a server without TLS. */
const asked = few(2);

/** What a machine uses of its processors or its memory: the newest figure, and the last hour beside it. */
export function UsageCell({ column, object }: { column: "CPU" | "Memory"; object: KubeObject }) {
  const say = useSay();
  const { namespace, name = "" } = object.metadata;
  const machine = useObject("virtualmachines", namespace, name);
  const { phase } = machine?.status ?? {};
  const on = phase === "Active" || phase === "Suspended" || phase === "Unknown" || phase === "CrashLoopBackOff";
  const usage = useQuery<Usage>({
    queryKey: ["usage", "spark", namespace ?? "", name], enabled: on, staleTime: every, refetchInterval: every, retry: false,
    queryFn: ({ signal }) => asked(() => read<Usage>(`/v1/usage${objectPath("virtualmachines", namespace, name)}`, { signal })),
  });
  const samples = useMemo((): Sample[] => (usage.data?.series ?? []).map((point) => ({ time: Date.parse(point.time), value: column === "CPU" ? point.cpuCores : point.memoryBytes })), [usage.data, column]);
  if (!on) return <span className="dim">&lt;none&gt;</span>;
  const limit = quantity(machine?.spec?.resource?.[column === "CPU" ? "cpu" : "memory"]) || undefined;
  const show = (value: number) => (limit ? `${Math.round((100 * value) / limit)} %` : column === "CPU" ? say("usage.cores", { value: value.toFixed(1) }) : gibi(value));
  const now = extremes(samples)?.now;
  // A machine that nobody can look at has no figure for now, and its line ends where it was last seen.
  const known = now !== undefined && phase !== "Unknown";
  return (
    <span className="usagecell">
      <span className={known ? undefined : "dim"}>{known ? show(now) : "?"}</span>
      <Sparkline samples={samples} until={usage.dataUpdatedAt} limit={limit} interval={(usage.data?.intervalSeconds ?? 60) * 1000} what={column === "CPU" ? say("usage.cpu") : say("usage.memory")} show={show} />
    </span>
  );
}
