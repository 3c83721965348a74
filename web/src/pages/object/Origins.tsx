import { useQuery } from "@tanstack/react-query";
import { objectPath, read } from "../../api/client";
import type { Explanation } from "../../api/types";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";

type Origin = NonNullable<Explanation["origins"]>[number];

/** A value in a line or two; its whole is in the YAML. */
function short(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}…` : value;
}

/** Who has set each label, annotation and taint of a node: the pools first, then others, the kubelet last. */
export function Origins({ name }: { name: string }) {
  const say = useSay();
  const why = useQuery({
    queryKey: ["why", "nodes", "", name], staleTime: 10_000, retry: false,
    queryFn: ({ signal }) => read<Explanation>(`/v1${objectPath("nodes", undefined, name)}/why`, { signal }),
  });
  const origins = why.data?.origins ?? [];
  if (origins.length === 0) return null;
  const groups = new Map<string, Origin[]>();
  for (const origin of origins) {
    const group = origin.by === "Pool" ? say("origins.pool", { name: origin.pool ?? "?" }) : origin.by === "Kubelet" ? say("origins.kubelet") : say("origins.others");
    groups.set(group, [...(groups.get(group) ?? []), origin]);
  }
  const rank = (origin: Origin | undefined) => (origin?.by === "Pool" ? 0 : origin?.by === "Kubelet" ? 2 : 1);
  return (
    <section className="stack">
      <h2>{say("origins.title")} <span className="dim small">{say("origins.sub", { count: origins.length })}</span></h2>
      {[...groups.entries()].sort((a, b) => rank(a[1][0]) - rank(b[1][0]) || a[0].localeCompare(b[0])).map(([group, keys]) => (
        <div className="who" key={group}>
          <h3><Icon name={keys[0]?.by === "Pool" ? "nodepools" : "nodes"} />{group}<span className="dim">{say("origins.sub", { count: keys.length })}</span></h3>
          <ul>
            {keys.map((origin) => (
              <li key={origin.key} className={origin.lost?.length ? "lost" : origin.by === "Pool" ? "pool" : undefined} title={origin.message}>
                <code className="mono">{origin.key.replace(/^(label|annotation) /, "")}<span className="v">{origin.value === "" ? "" : `=${short(origin.value)}`}</span></code>
                {origin.lost && origin.lost.length > 0 && <span className="small warn">{say("origins.lost", { pools: origin.lost.join(", ") })}</span>}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
