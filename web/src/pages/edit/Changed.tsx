import { Action } from "../../components/parts";
import type { Fields } from "../../editor/json";
import { editableText } from "../../editor/text";
import { useSay } from "../../i18n";
import { Shape } from "../../status/shapes";
import { DiffView } from "./DiffView";

/** Somebody else has changed the object while it is open here, or put another one in its place. Nothing is overwritten: the reader takes it in, or does not, which has to wait while the text cannot be read. */
export function Changed({ replaced, since, before, now, hindered, onAdopt }: { replaced: boolean; since: string; before: Fields; now: Fields; hindered: string | undefined; onAdopt: () => void }) {
  const say = useSay();
  return (
    <div className="reasonbox heed flat" role="status">
      <Shape name="attention" />
      <div className="pile">
        <div><div className="strong">{replaced ? say("edit.replaced") : say("edit.changed", { time: since })}</div><div className="sub small">{say(replaced ? "edit.replacedSub" : "edit.changedSub")}</div></div>
        <DiffView before={editableText(before)} after={editableText(now)} />
        <div><Action label={say(replaced ? "edit.goOn" : "edit.adopt")} disabled={hindered} onClick={onAdopt} /></div>
      </div>
      <span />
    </div>
  );
}
