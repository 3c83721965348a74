import { Dialog } from "@base-ui/react/dialog";
import { Fragment } from "react";
import { Icon } from "../components/Icon";
import { setLetters, useLetters } from "../components/letters";
import { type Key, useSay } from "../i18n";
import { kinds } from "../kinds/registry";

type Row = readonly [keys: readonly string[], what: Key];

const everywhere: readonly Row[] = [[["Ctrl K", "⌘ K"], "keys.jump"], [["?"], "keys.this"], [["/"], "keys.filter"], [["Esc"], "keys.close"], [["N"], "keys.new"]];
const list: readonly Row[] = [
  [["J", "↓"], "keys.next"], [["K", "↑"], "keys.before"], [["Home", "End"], "keys.ends"], [["Enter"], "keys.page"], [["Space"], "keys.drawer"], [["X"], "keys.select"], [["Shift ↓", "Shift ↑"], "keys.range"],
];
const object: readonly Row[] = [[["[", "]"], "keys.neighbours"], [["S"], "keys.scale"], [["Y"], "keys.yaml"], [["E"], "keys.edit"], [["Ctrl S"], "keys.save"], [["Del"], "keys.delete"]];

function Table({ title, rows }: { title: string; rows: readonly (readonly [readonly string[], string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className="keylist">
        {rows.map(([keys, what]) => (
          <div key={what}><dt>{keys.map((each, at) => <Fragment key={each}>{at > 0 && " "}<kbd>{each}</kbd></Fragment>)}</dt><dd>{what}</dd></div>
        ))}
      </dl>
    </section>
  );
}

/** All keys. Single letters can be turned off, and the others stay. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const say = useSay();
  const on = useLetters();
  const said = (rows: readonly Row[]) => rows.map(([keys, what]) => [keys, say(what)] as const);
  const pages = [[["G O"], say("nav.overview")] as const, ...kinds.flatMap((kind) => (kind.key ? [[[`G ${kind.key.toUpperCase()}`], say(`kind.${kind.plural}`)] as const] : []))];
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog keyhelp">
          <header className="row between">
            <Dialog.Title render={<h2 />}>{say("keys.title")}</Dialog.Title>
            <Dialog.Close className="btn quiet icon" aria-label={say("drawer.close")}><Icon name="close" size={14} /></Dialog.Close>
          </header>
          <div className="body">
            <div className="keygrid">
              <Table title={say("keys.everywhere")} rows={said(everywhere)} /><Table title={say("keys.goto")} rows={pages} />
              <Table title={say("keys.inList")} rows={said(list)} /><Table title={say("keys.onObject")} rows={said(object)} />
            </div>
          </div>
          <footer><label className="row tick"><input type="checkbox" checked={on} onChange={(event) => setLetters(event.target.checked)} />{say("keys.letters")}</label></footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
