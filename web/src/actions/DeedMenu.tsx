import { Menu } from "@base-ui/react/menu";
import { type ReactNode, useState } from "react";
import { useSay } from "../i18n";
import { useRefused } from "./useHindrance";
import { curl, type Target } from "./commands";
import type { Deed } from "./list";

/** What can be done with an object, with the commands that do the same as what the pointer or the focus is on. */
export function DeedMenu({ anchor, label, target, deeds, children, onDeed, onAsk, onClose }: {
  anchor: Element; label: string; target: Target; deeds: readonly Deed[]; children?: ReactNode; onDeed: (deed: Deed) => void; onAsk: (deed: Deed) => void; onClose: () => void;
}) {
  const say = useSay();
  const refused = useRefused(target);
  const [at, setAt] = useState<Deed>();
  const shown = at ?? deeds[0];
  // What deletes comes last.
  const items = [...deeds.map((deed) => ({ deed, lasting: false })), ...deeds.filter((deed) => deed.lasting).map((deed) => ({ deed, lasting: true }))].sort((a, b) => Number(a.deed.danger === true) - Number(b.deed.danger === true));
  const look = (deed: Deed) => ({ onPointerMove: () => setAt(deed), onFocus: () => setAt(deed) });
  return (
    <Menu.Root open onOpenChange={(open) => { if (!open) onClose(); }} modal={false}>
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} className="over" sideOffset={4} align="end">
          <Menu.Popup className="pop menu" aria-label={label}>
            {children}
            {items.map(({ deed, lasting }) => {
              const reason = refused(deed.right);
              return (
                <Menu.Item key={`${deed.key} ${lasting}`} {...look(deed)} disabled={reason !== undefined} title={reason} className={deed.danger ? "bad" : undefined} onClick={() => (lasting ? onAsk(deed) : onDeed(deed))}>
                  {say(lasting ? "action.pauseFor" : deed.key)}{deed.key === "action.delete" && <kbd>Del</kbd>}
                </Menu.Item>
              );
            })}
            {shown && (
              <div className="menucmd">
                <span className="dim">{say("same.title")}</span>
                <span className="mono" lang="en">{shown.order.kubectl}</span>
                <span className="mono dim" lang="en">{curl(shown.order)}</span>
              </div>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
