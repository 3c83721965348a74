import { quoted, curl, type Order } from "../../actions/commands";
import type { KubeObject } from "../../api/types";
import { DoesTheSame, Nothing } from "../../components/parts";
import { type Fields, spoken } from "../../editor/json";
import { patchOf } from "../../editor/patch";
import { editableText } from "../../editor/text";
import { useLanguage } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { clock } from "../../status/age";
import { Shape } from "../../status/shapes";
import { ConflictBox } from "./ConflictBox";
import { DiffView } from "./DiffView";
import { type Editing, manager } from "./useEditing";

/** What saving would do, as the API server has tried it: the difference, who owns what, and the command that does the same. */
export function Outcome({ kind, edit, target }: { kind: Kind; edit: Editing; target: KubeObject["metadata"] }) {
  const { say, language } = useLanguage();
  const { difference, problem, conflicts } = edit;
  const steps = patchOf(edit.sent);
  const order: Order = {
    path: edit.path + edit.parameters, method: "PATCH", body: steps, type: "application/json-patch+json",
    kubectl: `kubectl patch ${kind.kubectl} ${quoted(target.name ?? "")}${target.namespace ? ` -n ${quoted(target.namespace)}` : ""} --type=json --field-manager=${manager} -p ${quoted(JSON.stringify(steps))}`,
  };
  return (
    <>
      <div className="row wrap">
        <h2>{say("outcome.title")}</h2><span className="grow" />
        {difference && <span className="dim small">{say("outcome.when", { time: clock(new Date(edit.triedAt).toISOString(), language, Date.now()) })}</span>}
      </div>
      {edit.edits.length === 0 && <Nothing>{say("outcome.none")}</Nothing>}
      {difference && <DiffView before={editableText((difference.before ?? {}) as Fields)} after={editableText(difference.after as Fields)} />}
      {difference && <p className="sub small">{say("outcome.count", { count: difference.changes.length })}</p>}
      {problem && (
        <div className="reasonbox stalled flat" role="alert">
          <Shape name="stalled" />
          <div className="pile">
            <div><span className="reason">{problem.problem.code}</span><div lang="en">{problem.message}</div></div>
            {problem.problem.errors && <ul className="small stack" lang="en">{problem.problem.errors.map((error, index) => <li key={index}>{error.location && <code>{error.location}</code>} {error.message}</li>)}</ul>}
          </div>
          <span />
        </div>
      )}
      {conflicts.map((conflict) => (
        <ConflictBox key={spoken(conflict.edit.path)} conflict={conflict} choice={edit.choices.get(spoken(conflict.edit.path))} onChoose={(choice) => edit.choose(conflict, choice)} />
      ))}
      {edit.sent.length > 0 && <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />}
    </>
  );
}
