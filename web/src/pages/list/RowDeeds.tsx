import { type ReactNode, useState } from "react";
import type { Target } from "../../actions/commands";
import { type Deed, deedsOf, foremost } from "../../actions/list";
import { Same } from "../../actions/Same";
import { useRefused } from "../../actions/useHindrance";
import { targetOf } from "../../actions/useOrder";
import type { KubeObject, Plural } from "../../api/types";
import { Action } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";

/** How many buttons a row has room for beside its cells, where the window is wide. */
export function roomFor(plural: Plural): number {
  if (["virtualmachines", "podsets", "deployments"].includes(plural)) return 2;
  return ["nodes", "nodepools", "clusters", "kubeconfigs", "podbuggertools"].includes(plural) ? 1 : 0;
}

/**
 * The first buttons of an object, in its row while the pointer or the focus is there. They stay what they were when they came, so that none
 * changes under the pointer; after one was pressed they are those of the object as it is then.
 */
export function RowDeeds({ kind, object, onDeed }: { kind: Kind; object: KubeObject; onDeed: (deed: Deed, target: Target) => Promise<void> }): ReactNode {
  const say = useSay();
  const target = targetOf(kind, object);
  const refused = useRefused(target);
  const deeds = foremost(deedsOf(target, object));
  const [shown, setShown] = useState(deeds);
  const [busy, setBusy] = useState<Deed["key"]>();
  const [pressed, setPressed] = useState(false);
  const same = shown.length === deeds.length && shown.every((deed, at) => deed.key === deeds[at]?.key);
  if (pressed && !busy && !same) { setShown(deeds); setPressed(false); }
  const press = (deed: Deed) => {
    setBusy(deed.key);
    void onDeed(deed, target).finally(() => { setBusy(undefined); setPressed(true); });
  };
  return shown.map((each) => {
    // What it does follows the object: an acknowledgement is of what is seen.
    const deed = deeds.find(({ key }) => key === each.key) ?? each;
    const label = say(deed.key);
    return (
      <Same key={deed.key} order={deed.order}>
        <Action name={deed.key} label={label} aria-label={say("row.deed", { action: label, name: target.name })} disabled={refused(deed.right)} busy={busy === deed.key} onClick={() => press(deed)} />
      </Same>
    );
  });
}
