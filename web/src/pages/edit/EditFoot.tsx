import type { ReactNode } from "react";
import { Action } from "../../components/parts";
import type { Mistake } from "../../editor/text";
import { useSay } from "../../i18n";
import { Shape } from "../../status/shapes";
import type { Editing } from "./useEditing";

/** What keeps the text from being saved, or that nothing does, and the buttons; instead is the button of what is changed in another way. */
export function EditFoot({ edit, blocked, mistakes, instead, onSave, onCancel }: {
  edit: Editing; blocked: string | undefined; mistakes: readonly Mistake[]; instead?: ReactNode; onSave: () => void; onCancel: () => void;
}) {
  const say = useSay();
  const wrong = mistakes[0];
  return (
    <div className="end">
      <span className="grow state" role="status">
        {wrong ? <span className="st stalled"><Shape name="stalled" /><span className="said" lang="en">{say("edit.line", { line: edit.text.slice(0, wrong.from).split("\n").length })} {wrong.message}</span></span>
          : blocked ? <span className="sub">{blocked}</span>
          : <span className="st ready"><Shape name="ready" />{say("edit.valid")}</span>}
      </span>
      {!instead && <span className="dim small row keys" aria-hidden="true"><kbd>Ctrl</kbd><kbd>S</kbd></span>}
      <button type="button" className="btn" onClick={onCancel}>{say(edit.pristine ? "edit.close" : "edit.discard")}</button>
      {instead || <Action primary label={edit.saving ? say("edit.saving") : say("edit.save", { count: edit.sent.length })} disabled={blocked} busy={edit.saving} onClick={onSave} />}
    </div>
  );
}
