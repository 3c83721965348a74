import { useMemo } from "react";
import { Goes } from "../../../actions/Goes";
import { Refusal } from "../../../api/client";
import type { Schemas } from "../../../api/types";
import { useSay } from "../../../i18n";
import { useObjects } from "../../../live/hooks";
import { useNodeMap } from "../../../map/useNodeMap";
import { Shape } from "../../../status/shapes";

const most = 12;
const parts = ["label", "annotation", "taint"] as const;

/** What is wrong with what was typed, field by field, in the server's words. */
export function Refused({ error }: { error: Error }) {
  const errors = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  return (
    <div className="reasonbox stalled" role="alert">
      <Shape name="stalled" />
      <div lang="en">{errors.length === 0 ? error.message : errors.map((each) => <div key={`${each.location ?? ""}${each.message ?? ""}`}><code>{each.location}</code> {each.message}</div>)}</div>
    </div>
  );
}

/** The pods that would be deleted, by name: how many says little of which. */
export function Going({ preview }: { preview: Schemas["PoolPreview"] }) {
  const say = useSay();
  if (preview.pods.length === 0) return null;
  const names = preview.pods.map(({ namespace, name }) => (namespace ? `${namespace}/${name}` : name));
  return (
    <details className="small" open={names.length <= most}>
      <summary>{say("pool.going")}</summary>
      <ul className="fate">{names.map((name) => <li key={name}><Goes goes /><code>{name}</code></li>)}{preview.podCount > names.length && <li className="sub">{say("bulk.rest", { count: preview.podCount - names.length })}</li>}</ul>
    </details>
  );
}

/** The nodes that would change, each with how full it is, what of it would change, and a corner where it has a taint then. */
export function Touched({ preview }: { preview: Schemas["PoolPreview"] }) {
  const say = useSay();
  const shown = useMemo(() => preview.nodes.slice(0, most), [preview]);
  const all = useObjects("nodes");
  const map = useNodeMap("pools", useMemo(() => { const names = new Set(shown.map((node) => node.name)); return all.filter((node) => names.has(node.metadata.name ?? "")); }, [all, shown]));
  const spots = new Map(map.layout.blocks.flatMap((block) => block.spots).map((spot) => [spot.name, spot]));
  return (
    <ul className="touched">
      {shown.map(({ name, membership, changes }) => {
        const spot = spots.get(name);
        const taints = changes.filter((change) => change.key.startsWith("taint "));
        const tainted = taints.some((change) => change.after !== undefined) || (spot !== undefined && spot.taint !== "" && !taints.some((change) => change.after === undefined));
        const what = parts.filter((part) => changes.some((change) => change.key.startsWith(`${part} `))).map((part) => say(`pool.part.${part}`));
        const words = [...(membership === "Stays" ? [] : [say(membership === "Joins" ? "pool.joins" : "pool.leaves")]), ...what].join(say("list.comma"));
        return (
          <li key={name} className={[membership === "Leaves" ? "leaves" : "", tainted ? "tainted" : ""].filter(Boolean).join(" ") || undefined}>
            <span className="gauge" aria-hidden="true">{spot?.level !== undefined && <i style={{ height: `${100 * spot.level}%` }} />}</span>
            <strong>{name}</strong><span className="small dim">{words || say("pool.part.none")}</span>
            {spot?.level !== undefined && <span className="sr">{say("pool.requested", { percent: Math.round(100 * spot.level) })}</span>}
          </li>
        );
      })}
      {preview.changed > most && <li><span className="small dim">{say("bulk.rest", { count: preview.changed - most })}</span></li>}
    </ul>
  );
}
