import { Link, useRouterState, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { objectPath } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { Said, Step } from "../../components/Said";
import { useLanguage, useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { Shape } from "../../status/shapes";
import type { Status } from "../../status/status";
import { isThere, type Way, wayOf } from "../overview/way";
import { contested } from "../parts/contested";
import { useWhy } from "./useWhy";

const boxes: Partial<Record<Status["name"], string>> = { stalled: "stalled", reconciling: "reconciling", retrying: "heed", waiting: "heed", unknown: "heed", attention: "heed", deleting: "", paused: "" };

/** Why an object is not plainly ready, in the server's words, what to do, and a button to where that can be done. */
export function ReasonBox({ kind, object, status }: { kind: Kind; object: KubeObject; status: Status }) {
  const { meaning } = useLanguage();
  const box = boxes[status.name];
  // What is deleted or paused has a box where there is more to say than that.
  const shown = box !== undefined && (box !== "" || status.reason !== undefined || status.message !== undefined);
  const why = useWhy(kind, object, { wanted: shown });
  const failed = why.data?.checks.find((check) => check.state === "Failed");
  if (!shown) return null;
  return (
    <div className={`reasonbox ${box}`.trim()}>
      <Shape name={status.name} />
      <div>
        {status.reason && <div className="reason">{status.reason}</div>}
        <Said reason={status.reason} message={status.message} />
        {failed?.next && !why.old && !meaning(status.reason) && <div className="sub"><Step text={failed.next.text} /></div>}
      </div>
      <Button kind={kind} object={object} status={status} />
    </div>
  );
}

/** Leads to where it can be solved. Who is there already is led to the checks, and who has read those is led nowhere. */
function Button({ kind, object, status }: { kind: Kind; object: KubeObject; status: Status }) {
  const say = useSay();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { tab = "" } = useSearch({ from: "__root__" });
  const { namespace, name = "" } = object.metadata;
  // Looked for once for each change of the status: there can be thousands of nodes.
  const node = useMemo(() => (kind.plural === "nodepools" && status.reason === "KeysHeldElsewhere" ? contested(name) : undefined), [kind, status, name]);
  const checks: Way | undefined = kind.explained ? { key: "way.why", to: objectPath(kind.plural, namespace, name), search: { tab: "why" } } : undefined;
  const way = [wayOf({ plural: kind.plural, status, objects: [object] }, kind, { contested: node }), checks].find((each) => each !== undefined && !isThere(each, path, tab));
  return way ? <Link className="btn" to={way.to} search={way.search ?? {}}>{say(way.key, way.values)}</Link> : null;
}
