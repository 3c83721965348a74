import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { objectPath, read } from "../../api/client";
import type { Usage } from "../../api/types";
import { Sparkline } from "../../charts/Sparkline";
import type { Sample } from "../../charts/series";
import { useSay } from "../../i18n";
import { useObject } from "../../live/hooks";
import { gibi, quantity } from "../../status/quantity";
import { few } from "./few";

/** A point is for a minute: asking more often tells nothing. */
const every = 60_000;
/** So many rows ask at once: a browser has six connections to a server without TLS. */
const asked = few(2);

/** What a machine uses of its processors or its memory: kubectl's figure, and the last hour beside it. */
export function UsageCell({ column, value, namespace, name }: { column: "CPU" | "Memory"; value: string; namespace: string | undefined; name: string }) {
  const say = useSay();
  const machine = useObject("virtualmachines", namespace, name);
  const { phase } = machine?.status ?? {};
  const usage = useQuery<Usage>({
    queryKey: ["usage", "spark", namespace ?? "", name], enabled: machine?.status?.server !== undefined && phase !== "Stopped", staleTime: every, refetchInterval: every, retry: false,
    queryFn: ({ signal }) => asked(() => read<Usage>(`/v1/usage${objectPath("virtualmachines", namespace, name)}`, { signal })),
  });
  const samples = useMemo((): Sample[] => (usage.data?.series ?? []).map((point) => ({ time: Date.parse(point.time), value: column === "CPU" ? point.cpuCores : point.memoryBytes })), [usage.data, column]);
  const limit = quantity(machine?.spec?.resource?.[column === "CPU" ? "cpu" : "memory"]) || undefined;
  const show = (of: number) => (limit ? `${Math.round((100 * of) / limit)} %` : column === "CPU" ? say("usage.cores", { value: of.toFixed(1) }) : gibi(of));
  // A machine that nobody can look at has no figure for now, and its line ends where it was last seen.
  const figure = phase === "Unknown" ? "?" : value;
  return (
    <span className="usagecell">
      <span className={figure === value && value !== "<none>" ? undefined : "dim"}>{figure}</span>
      <Sparkline samples={samples} until={usage.dataUpdatedAt} limit={limit} interval={(usage.data?.intervalSeconds ?? 60) * 1000} what={column === "CPU" ? say("usage.cpu") : say("usage.memory")} show={show} />
    </span>
  );
}
