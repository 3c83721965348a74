import { useSay } from "../../../i18n";
import type { Fate, Foreseen } from "./foreseen";

function Part({ title, fates }: { title: string; fates: readonly Fate[] }) {
  const say = useSay();
  if (fates.length === 0) return null;
  return (
    <>
      <div className="at n"><b /><span>{title}</span></div>
      {fates.map((fate) => (
        <div key={fate.sign + fate.text} className={fate.sign === "+" ? "add" : fate.sign === "−" ? "del" : "mod"}><b>{fate.sign}</b><span>{fate.text}{fate.nodes !== undefined && <span className="dim"> {say("pool.onNodes", { count: fate.nodes })}</span>}</span></div>
      ))}
    </>
  );
}

/** What would come and go on the nodes. */
export function ForeseenList({ foreseen }: { foreseen: Foreseen }) {
  const say = useSay();
  const { labels, annotations, taints, lost } = foreseen;
  if (labels.length + annotations.length + taints.length + lost.length === 0) return <p className="sub">{say("pool.noChange")}</p>;
  return (
    <div className="diff">
      <Part title={say("pool.labels")} fates={labels} />
      <Part title={say("pool.annotations")} fates={annotations} />
      <Part title={say("pool.taints")} fates={taints} />
      {lost.length > 0 && <><div className="at n"><b /><span>{say("pool.lost")}</span></div>{lost.map((key) => <div key={key} className="mod"><b>~</b><span>{key}</span></div>)}</>}
    </div>
  );
}
