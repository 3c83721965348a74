import { useState } from "react";
import { useHindrance } from "../../../actions/useHindrance";
import { targetOf } from "../../../actions/useOrder";
import { Layer } from "../../../components/Layer";
import { later } from "../../../components/later";
import { Action } from "../../../components/parts";
import { useSay } from "../../../i18n";
import type { Kind } from "../../../kinds/registry";
import { useObject } from "../../../live/hooks";

const Change = later(async () => (await import("./Change")).Change);

/** Opens the rehearsal of a change of the pool. */
export function ChangeButton({ kind, name }: { kind: Kind; name: string }) {
  const say = useSay();
  const refused = useHindrance("nodepools", undefined, "patch");
  const pool = useObject("nodepools", undefined, name);
  const [open, setOpen] = useState(false);
  if (!pool) return null;
  return (
    <>
      <Action name="pool.changeIt" label={say("pool.changeIt")} disabled={refused} onClick={() => setOpen(true)} />
      {open && <Layer onClose={() => setOpen(false)}><Change pool={pool} target={targetOf(kind, pool)} onClose={() => setOpen(false)} /></Layer>}
    </>
  );
}
