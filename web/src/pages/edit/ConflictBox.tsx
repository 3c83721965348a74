import { Segments } from "../../components/parts";
import type { Choice, Conflict } from "../../editor/conflicts";
import { type Json, spoken } from "../../editor/json";
import { useLanguage } from "../../i18n";
import { clock } from "../../status/age";
import { Shape } from "../../status/shapes";

/** A short value as it is, a long one not at all. */
function brief(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length <= 24 ? text : "";
}

/** One field that somebody else has set: who, since when, and what becomes of it. */
export function ConflictBox({ conflict, choice, onChoose }: { conflict: Conflict; choice: Choice | undefined; onChoose: (choice: Choice) => void }) {
  const { say, language } = useLanguage();
  const { edit, owners } = conflict;
  const held = brief(edit.before);
  const field = spoken(edit.path);
  return (
    <div className="reasonbox heed flat">
      <Shape name="attention" />
      <div className="pile">
        <div><span className="reason">Conflict</span><div><code className="strong">{field}</code></div></div>
        <ul className="sub small stack">
          {owners.map((owner) => (
            <li key={owner.manager}>{say(owner.time ? "conflict.since" : "conflict.owner", { manager: owner.manager, operation: owner.operation, time: clock(owner.time, language, Date.now()) })}</li>
          ))}
          <li>{say("conflict.about")}</li>
        </ul>
        <div>
          <Segments<Choice | "">
            label={say("conflict.choose", { field })} value={choice ?? ""} onChange={(to) => { if (to !== "") onChoose(to); }}
            options={[["leave", held ? say("conflict.leaveAt", { value: held }) : say("conflict.leave")], ["take", say("conflict.take")]]}
          />
        </div>
      </div>
      <span />
    </div>
  );
}
