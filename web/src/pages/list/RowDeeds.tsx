import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Target } from "../../actions/commands";
import { type Deed, deedsOf, foremost } from "../../actions/list";
import { Same } from "../../actions/Same";
import { signOf } from "../../actions/signs";
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
 * The first buttons of an object, in its row while the pointer or the focus is there. None changes under the pointer or with the focus, until it
 * was pressed: elsewhere they are those of the object as it is.
 */
export function RowDeeds({ kind, object, onDeed }: { kind: Kind; object: KubeObject; onDeed: (deed: Deed, target: Target) => Promise<void> }): ReactNode {
  const say = useSay();
  const target = targetOf(kind, object);
  const refused = useRefused(target);
  const deeds = foremost(deedsOf(target, object));
  const [shown, setShown] = useState(deeds);
  const [busy, setBusy] = useState<Deed["key"]>();
  const [pressed, setPressed] = useState(false);
  const group = useRef<HTMLSpanElement>(null);
  const same = shown.length === deeds.length && shown.every((deed, at) => deed.key === deeds[at]?.key);
  if (pressed && !busy && !same) { setShown(deeds); setPressed(false); }
  // Who has pressed a button with the keyboard stays in the row when it gives way to that of the next state.
  const focused = useRef(false);
  useEffect(() => {
    if (focused.current && document.activeElement === document.body) group.current?.closest("tr")?.focus();
    focused.current = group.current?.contains(document.activeElement) === true;
  }, [shown]);
  // Asked of the page itself: a button that is replaced while it has the focus does not say that it has lost it.
  const follow = () => { if (!same && !group.current?.matches(":hover, :focus-within")) setShown(deeds); };
  useEffect(follow);
  const press = (deed: Deed) => {
    setBusy(deed.key);
    focused.current = true;
    void onDeed(deed, target).finally(() => { setBusy(undefined); setPressed(true); });
  };
  const button = (each: Deed) => {
    // What it does follows the object: an acknowledgement is of what is seen.
    const deed = deeds.find(({ key }) => key === each.key) ?? each;
    const label = say(deed.key);
    return (
      <Same key={deed.key} order={deed.order}>
        <Action name={deed.key} icon={signOf(deed)} label={label} aria-label={say("row.deed", { action: label, name: target.name })} disabled={refused(deed.right)} busy={busy === deed.key} onClick={() => press(deed)} />
      </Same>
    );
  };
  return <span ref={group} className="rowdeeds" onPointerLeave={follow} onBlur={follow}>{shown.map(button)}</span>;
}
