import { Menu } from "@base-ui/react/menu";
import { useState } from "react";
import type { Target } from "../../actions/commands";
import { DeedMenu } from "../../actions/DeedMenu";
import { type Deed, deedsOf } from "../../actions/list";
import type { KubeObject } from "../../api/types";
import { useSay } from "../../i18n";

/** What can be done with the object of a row, beside its button. */
export function RowMenu({ anchor, target, object, onDeed, onAsk, onDrawer, onPage, onScale, onClose }: {
  anchor: Element; target: Target; object: KubeObject; onDeed: (deed: Deed) => void; onAsk: (deed: Deed) => void; onDrawer: () => void; onPage: (tab: string | undefined) => void; onScale: (() => void) | undefined; onClose: () => void;
}) {
  const say = useSay();
  // What was there when it opened: an item does not move from under the pointer.
  const [deeds] = useState(() => deedsOf(target, object));
  return (
    <DeedMenu anchor={anchor} label={say("row.menu", { name: target.name })} target={target} deeds={deeds} onDeed={onDeed} onAsk={onAsk} onClose={onClose}>
      <Menu.Item onClick={onDrawer}>{say("row.drawer")} <kbd>Space</kbd></Menu.Item>
      <Menu.Item onClick={() => onPage(undefined)}>{say("drawer.open")} <kbd>Enter</kbd></Menu.Item>
      <Menu.Item onClick={() => onPage("yaml")}>{say("tab.yaml")} <kbd>Y</kbd></Menu.Item>
      {onScale && <Menu.Item onClick={onScale}>{say("action.scale")} <kbd>S</kbd></Menu.Item>}
      <Menu.Separator />
    </DeedMenu>
  );
}
