import type { Schemas } from "../api/types";
import { useSay } from "../i18n";
import { selects, selectorText } from "../kinds/selector";
import { useObjects } from "../live/hooks";

type Pool = Schemas["NodePool"];

/** Whether the pods of a namespace with these labels may choose the pool. */
export function mayChoose(pool: Pool, labels: Readonly<Record<string, string>>): boolean {
  const allowed = pool.spec?.allowedNamespaces;
  return allowed?.from !== "Selector" || selects(allowed.selector, labels);
}

function words(pairs: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(pairs ?? {}).map(([key, value]) => (value === "" ? key : `${key}=${value}`)).join(", ");
}

/** The pool whose nodes run the pods. Pools that the namespace may not choose are there, with the reason. */
export function PoolChoice({ label, value, namespace, onChange }: { label: string; value: string; namespace: string; onChange: (name: string) => void }) {
  const say = useSay();
  const pools = useObjects("nodepools");
  const nodes = useObjects("nodes");
  const labels = useObjects("namespaces").find((each) => each.metadata.name === namespace)?.metadata.labels ?? {};
  const sorted = [...pools].sort((one, other) => (one.metadata?.name ?? "").localeCompare(other.metadata?.name ?? ""));
  return (
    <fieldset className="opts">
      <legend className="label">{label}</legend>
      <label className="opt" data-chosen={value === ""}>
        <input type="radio" name="pool" checked={value === ""} onChange={() => onChange("")} />
        <span>{say("form.pool.any")}<span className="small sub line">{say("form.pool.anySub")}</span></span>
        <span className="small nowrap sub">{say("form.pool.nodes", { count: nodes.length })}</span>
      </label>
      {sorted.map((pool) => {
        const name = pool.metadata?.name ?? "";
        const free = mayChoose(pool, labels);
        const taints = (pool.spec?.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`).join(", ");
        const about = free
          ? [words(pool.spec?.labels), taints || say("form.pool.noTaints")].filter((part) => part !== "").join(", ")
          : say("form.pool.refused", { labels: selectorText(pool.spec?.allowedNamespaces?.selector) ?? "" });
        return (
          <label key={name} className="opt" data-chosen={value === name} data-off={!free}>
            <input type="radio" name="pool" checked={value === name} aria-disabled={!free} onChange={() => { if (free) onChange(name); }} />
            <span>{say("form.pool.name", { name })}<span className="small sub line">{about}</span></span>
            <span className="small nowrap sub">{say("form.pool.ready", { ready: pool.status?.readyNodeCount ?? 0, count: pool.status?.nodeCount ?? 0 })}</span>
          </label>
        );
      })}
      {value !== "" && !sorted.some((pool) => pool.metadata?.name === value) && <p className="hint">{say("form.pool.name", { name: value })}</p>}
    </fieldset>
  );
}
