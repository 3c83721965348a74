import { type ReactNode, useCallback, useState } from "react";
import { Layer } from "../components/Layer";
import { later } from "../components/later";
import { useSay } from "../i18n";
import type { Target } from "./commands";
import type { Deed } from "./list";
import { useOrder } from "./useOrder";

const Confirm = later(async () => (await import("./Confirm")).Confirm);
const DrainDialog = later(async () => (await import("./DrainDialog")).DrainDialog);

interface Doing {
  /** Does at once what can be taken back, and asks before anything else. */
  begin: (deed: Deed, target: Target) => Promise<void>;
  /** Asks in any case: with what can be chosen there. */
  ask: (deed: Deed, target: Target) => void;
  /** The deed that is being done. */
  busy: Deed["key"] | undefined;
  dialog: ReactNode;
}

/** How buttons and menus do what they offer. */
export function useDeed(): Doing {
  const say = useSay();
  const { run } = useOrder();
  const [asked, setAsked] = useState<{ deed: Deed; target: Target }>();
  const [busy, setBusy] = useState<Deed["key"]>();
  const ask = useCallback((deed: Deed, target: Target) => setAsked({ deed, target }), []);
  const begin = async (deed: Deed, target: Target) => {
    if (!deed.undo) {
      ask(deed, target);
      return;
    }
    setBusy(deed.key);
    try {
      await run(deed.order, say(deed.key), target.name, { undo: deed.undo });
    } finally {
      setBusy(undefined);
    }
  };
  const close = () => setAsked(undefined);
  const Asking = asked?.deed.key === "action.drain" ? DrainDialog : Confirm;
  return { begin, ask, busy, dialog: asked && <Layer onClose={close}><Asking deed={asked.deed} target={asked.target} onClose={close} /></Layer> };
}
