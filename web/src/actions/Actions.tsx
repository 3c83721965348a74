import { useState } from "react";
import type { KubeObject } from "../api/types";
import { Icon } from "../components/Icon";
import { Layer } from "../components/Layer";
import { later } from "../components/later";
import { Action } from "../components/parts";
import { useSay } from "../i18n";
import type { Kind } from "../kinds/registry";
import { type Deed, deedsOf, foremost } from "./list";
import { Same } from "./Same";
import { signOf } from "./signs";
import { useDeed } from "./useDeed";
import { useRefused } from "./useHindrance";
import { targetOf } from "./useOrder";

const DeedMenu = later(async () => (await import("./DeedMenu")).DeedMenu);

/** The buttons of an object. What the caller may not do is there, with its reason, and each says which command does the same. */
export function Actions({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const target = targetOf(kind, object);
  const refused = useRefused(target);
  const { begin, ask, busy, dialog } = useDeed();
  // What there was when the menu opened: an item does not move from under the pointer.
  const [menu, setMenu] = useState<{ anchor: Element; deeds: readonly Deed[] }>();
  const deeds = deedsOf(target, object);
  const first = foremost(deeds);
  const rest = deeds.filter((deed) => !first.includes(deed) || deed.lasting !== undefined);
  const deletion = deeds.find((deed) => deed.key === "action.delete");
  return (
    <>
      {first.map((deed) => (
        <Same key={deed.key} order={deed.order}>
          <Action name={deed.key} icon={signOf(deed)} label={say(deed.key)} disabled={refused(deed.right)} busy={busy === deed.key} onClick={() => void begin(deed, target)} />
        </Same>
      ))}
      {rest.length > 0 && (
        <button type="button" className="btn icon" aria-label={say("action.also", { name: target.name })} aria-haspopup="menu" aria-expanded={menu !== undefined} onClick={(event) => setMenu({ anchor: event.currentTarget, deeds: rest })}>
          <Icon name="more" size={14} />
        </button>
      )}
      {/* What the key Delete presses. */}
      {deletion && <button type="button" hidden data-deed={deletion.key} onClick={() => { if (!refused(deletion.right)) ask(deletion, target); }} />}
      {menu && (
        <Layer onClose={() => setMenu(undefined)}>
          <DeedMenu
            anchor={menu.anchor} label={say("action.also", { name: target.name })} target={target} deeds={menu.deeds}
            onDeed={(deed) => void begin(deed, target)} onAsk={(deed) => ask(deed, target)} onClose={() => setMenu(undefined)}
          />
        </Layer>
      )}
      {dialog}
    </>
  );
}
