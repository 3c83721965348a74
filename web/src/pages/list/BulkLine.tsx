import type { Deletion } from "../../actions/fate";
import { Goes } from "../../actions/Goes";
import { Refusal } from "../../api/client";
import { useSay } from "../../i18n";
import { Shape } from "../../status/shapes";
import type { BulkDeed } from "./bulk";
import type { Result } from "./useSending";

function said(error: Error): string {
  const fields = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  return [error.message, ...fields.map((each) => [each.location, each.message].filter(Boolean).join(": "))].join(" ");
}

/** One of several objects: what would become of it, and then what has. */
export function BulkLine({ name, result, begun, deletion, sizes }: {
  name: string; result: Result | undefined; begun: boolean; deletion: Deletion | undefined; sizes: BulkDeed["size"];
}) {
  const say = useSay();
  const message = result instanceof Error ? said(result) : undefined;
  return (
    <li>
      {result === undefined && !begun && deletion && <Goes goes />}
      {result === undefined && begun && <i className="todo" aria-label={say("bulk.waits")} role="img" />}
      {result === "done" && <><Shape name="ready" /><span className="sr">{say("bulk.was")}</span></>}
      {message !== undefined && <Shape name="stalled" />}
      {result === undefined && !begun && deletion
        ? <div>{name}<ul className="fate small sub">{deletion.fates.map((fate) => { const text = say(fate.key, fate.values); return <li key={text}><Goes goes={fate.goes} />{text}</li>; })}</ul></div>
        : <span>{name}{sizes && <span className="sub"> {say(sizes.before === sizes.after ? "bulk.stays" : "bulk.from", sizes)}</span>}{message !== undefined && <span className="small bad said" lang="en"> {message}</span>}</span>}
    </li>
  );
}
