import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { Icon } from "../../components/Icon";
import { isKey } from "../../components/letters";
import { useLanguage } from "../../i18n";
import { type Kind, pageOf } from "../../kinds/registry";
import { useLast } from "../../live/hooks";
import { OfPage } from "../../live/page";
import { keyOf } from "../../live/store";
import { clock } from "../../status/age";
import { StatusMark } from "../../status/shapes";
import { statusOf, withoutStatus } from "../../status/status";
import { Actions } from "../../actions/Actions";
import { Conditions, Facts } from "../object/Aside";
import { PoolsButton } from "../object/node/PoolsButton";
import { Origins } from "../object/Origins";
import { ObjectEvents } from "../object/ObjectEvents";
import { ReasonBox } from "../object/ReasonBox";
import { byKey, focusRow } from "./focus";

/** One object beside the list, which stays usable. It never closes by itself, and gives the focus back when it is closed with a key. */
export function Drawer({ kind, open, order, onOpen }: { kind: Kind; open: string; order: readonly string[]; onOpen: (key: string | undefined) => void }) {
  const { say, language } = useLanguage();
  const slash = open.indexOf("/");
  const namespace = slash > 0 ? open.slice(0, slash) : undefined;
  const name = open.slice(slash + 1);
  const { object: judged, gone, denied } = useLast(kind.plural, namespace, name);
  const at = order.indexOf(keyOf({ namespace, name }));
  const before = at > 0 ? order[at - 1] : undefined;
  const after = at >= 0 ? order[at + 1] : undefined;
  const place = useRef<HTMLElement>(null);
  // Where the focus was when it opened, as on the map. To a row it goes back as to that of the object that is shown by then.
  const [from] = useState(() => (document.activeElement instanceof HTMLElement ? document.activeElement : document.body));
  const close = useCallback(() => {
    if (place.current?.contains(document.activeElement)) {
      if (from === document.body || !from.isConnected || from.closest("tr[data-key]")) focusRow(open);
      else from.focus();
    }
    onOpen(undefined);
  }, [open, from, onOpen]);
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (!isKey(event)) return;
      if (event.key === "Escape") close();
      if (event.key === "[" && before) onOpen(before);
      if (event.key === "]" && after) onOpen(after);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [before, after, onOpen, close]);
  const status = judged && statusOf(kind.plural, judged);
  // Why there is no object on one side, where there is none.
  const end = (there: string | undefined, key: "drawer.first" | "drawer.last") => (there ? undefined : say(at < 0 ? "drawer.unlisted" : key));
  const arrow = (there: string | undefined, label: string, icon: "left" | "right", none: string | undefined) => (
    <button type="button" className="btn quiet icon" aria-label={label} aria-disabled={!there} title={none} onClick={() => { if (there) onOpen(there); }}><Icon name={icon} />{none && <span className="whynot">{none}</span>}</button>
  );
  return (
    <aside ref={place} className="drawer" aria-label={`${kind.kind} ${name}`}>
      <header>
        {status && !(kind.plural in withoutStatus) && <StatusMark status={status} />}
        <span className="kind">{kind.kind}</span><h2 className="drawername">{namespace && <span className="ns">{namespace}/</span>}{name}</h2>
        <span className="grow" />
        {arrow(before, say("drawer.prev"), "left", end(before, "drawer.first"))}
        {arrow(after, say("drawer.next"), "right", end(after, "drawer.last"))}
        <button type="button" className="btn quiet icon" aria-label={say("drawer.close")} onClick={(event) => (byKey(event) ? close() : onOpen(undefined))}><Icon name="close" /></button>
      </header>
      <div className="scroll" role="group" aria-label={name} tabIndex={0}>
        {!judged && <p className="sub">{say("object.gone", { name })}</p>}
        {judged && status && (
          <OfPage value={{ kind: kind.plural, object: judged, gone: gone !== undefined }}>
            {gone && <p className="banner warn" role="status">{say(denied ? "object.denied" : "object.deleted", { time: clock(gone, language, Date.now()) })}</p>}
            <ReasonBox kind={kind} object={judged} status={status} />
            <Facts kind={kind} object={judged} />
            {kind.plural === "nodes" && <Origins name={name} />}
            <Conditions object={judged} status={status} />
            <section><h2>{say("tab.events")}</h2><ObjectEvents kind={kind} namespace={namespace} name={name} brief /></section>
          </OfPage>
        )}
      </div>
      <footer>
        {judged && !gone && <Actions kind={kind} object={judged} />}
        {kind.plural === "nodes" && !gone && <PoolsButton kind={kind} name={name} />}
        <span className="grow" />
        <Link className="btn quiet" to={pageOf(kind.plural, namespace, name)}>{say("drawer.open")}<Icon name="right" size={14} /></Link>
      </footer>
    </aside>
  );
}
