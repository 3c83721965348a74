import { Action } from "../../components/parts";
import type { Fields } from "../../editor/json";
import { editableText } from "../../editor/text";
import { useSay } from "../../i18n";
import { Shape } from "../../status/shapes";
import { DiffView } from "./DiffView";

/** Somebody else has changed the object while it is open here. Nothing is overwritten: the reader takes it in, or does not. */
export function Changed({ since, before, now, onAdopt }: { since: string; before: Fields; now: Fields; onAdopt: () => void }) {
  const say = useSay();
  return (
    <div className="reasonbox heed flat" role="status">
      <Shape name="attention" />
      <div className="pile">
        <div><div className="strong">{say("edit.changed", { time: since })}</div><div className="sub small">{say("edit.changedSub")}</div></div>
        <DiffView before={editableText(before)} after={editableText(now)} />
        <div><Action label={say("edit.adopt")} onClick={onAdopt} /></div>
      </div>
      <span />
    </div>
  );
}
