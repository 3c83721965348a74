import { Menu } from "@base-ui/react/menu";
import { useState } from "react";
import { type Deed, deedsOf } from "../../actions/list";
import type { Target } from "../../actions/commands";
import type { KubeObject } from "../../api/types";
import { useSay } from "../../i18n";
import { may, useRights } from "../../shell/session";
import { useCut } from "../../live/useCut";

/** What can be done with the object of a row, beside its button. */
export function RowMenu({ anchor, target, object, onDeed, onDrawer, onPage, onClose }: {
  anchor: Element; target: Target; object: KubeObject; onDeed: (deed: Deed) => void; onDrawer: () => void; onPage: (tab: string | undefined) => void; onClose: () => void;
}) {
  const say = useSay();
  const cut = useCut();
  const rights = useRights(target.namespace);
  const [deeds] = useState(() => deedsOf(target, object));
  const [at, setAt] = useState<Deed>();
  const refused = (deed: Deed) => {
    if (cut) return cut;
    return may(rights, target.kind.plural, target.namespace, deed.right) ? undefined : say("action.refused", { verb: deed.right, kind: say(`kind.${target.kind.plural}`) });
  };
  return (
    <Menu.Root open onOpenChange={(open) => { if (!open) onClose(); }} modal={false}>
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} className="over" sideOffset={4} align="end">
          <Menu.Popup className="pop menu" aria-label={say("row.menu", { name: target.name })}>
            <Menu.Item onClick={onDrawer}>{say("row.drawer")} <kbd>Space</kbd></Menu.Item>
            <Menu.Item onClick={() => onPage(undefined)}>{say("drawer.open")} <kbd>Enter</kbd></Menu.Item>
            <Menu.Item onClick={() => onPage("yaml")}>{say("tab.yaml")} <kbd>Y</kbd></Menu.Item>
            <Menu.Separator />
            {deeds.map((deed) => {
              const reason = refused(deed);
              return (
                <Menu.Item key={deed.key} onPointerMove={() => setAt(deed)} onFocus={() => setAt(deed)} disabled={reason !== undefined} title={reason} className={deed.danger ? "bad" : undefined} onClick={() => onDeed(deed)}>
                  {say(deed.key)}{deed.key === "action.delete" && <kbd>Del</kbd>}
                </Menu.Item>
              );
            })}
            {deeds.length > 0 && <div className="menucmd"><span className="dim">{say("same.title")}</span> <span className="mono" lang="en">{(at ?? deeds[0])?.order.kubectl}</span></div>}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
