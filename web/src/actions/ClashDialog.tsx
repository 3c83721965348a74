import { Dialog } from "@base-ui/react/dialog";
import { useRef } from "react";
import { Action, DoesTheSame } from "../components/parts";
import { useLanguage } from "../i18n";
import { store } from "../live/store";
import { useCut } from "../live/useCut";
import { clock } from "../status/age";
import { Shape } from "../status/shapes";
import { type Choice, type Clash, type Field, taken } from "./clash";
import { curl } from "./commands";

/** Fields that others have set, each with its owner: they stay, or are taken over. The focus begins on what changes nothing. */
export function ClashDialog({ clash, onChoose }: { clash: Clash; onChoose: (choice: Choice) => void }) {
  const { say } = useLanguage();
  const cut = useCut();
  const leave = useRef<HTMLButtonElement>(null);
  const forced = taken(clash.order);
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open && !store.ended) onChoose("leave"); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog" initialFocus={leave}>
          <header><Dialog.Title render={<h2 />}>{say("clash.title", { action: clash.label, name: clash.name })}</Dialog.Title></header>
          <div className="body">
            {clash.fields.map((field, at) => <One key={at} field={field} />)}
            <p className="sub">{say("conflict.about")}</p>
            <DoesTheSame kubectl={forced.kubectl} curl={curl(forced)} />
          </div>
          <footer>
            <button type="button" className="btn" ref={leave} onClick={() => onChoose("leave")}>{say("conflict.leave")}</button>
            <Action label={say("conflict.take")} primary disabled={cut} onClick={() => onChoose("take")} />
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function One({ field }: { field: Field }) {
  const { say, language } = useLanguage();
  const { manager = "", operation = "", since, value = "" } = field.parameters ?? {};
  return (
    <div className="reasonbox heed">
      <Shape name="attention" />
      <div>
        <div className="reason">Conflict</div>
        <div><code className="strong">{field.location?.replace(/^\./, "")}</code>{value !== "" && <code className="dim">: {value}</code>}</div>
        <div className="sub">{since ? say("conflict.since", { manager, operation, time: clock(since, language, Date.now()) }) : say("conflict.owner", { manager, operation })}</div>
      </div>
    </div>
  );
}
