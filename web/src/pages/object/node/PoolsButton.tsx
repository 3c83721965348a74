import { useState } from "react";
import { useHindrance } from "../../../actions/useHindrance";
import { Layer } from "../../../components/Layer";
import { later } from "../../../components/later";
import { Action } from "../../../components/parts";
import { useSay } from "../../../i18n";
import type { Kind } from "../../../kinds/registry";
import { useObject } from "../../../live/hooks";

const PoolsDialog = later(async () => (await import("./PoolsDialog")).PoolsDialog);

/** Opens the choice of the pools that a node is in. */
export function PoolsButton({ kind, name }: { kind: Kind; name: string }) {
  const say = useSay();
  const refused = useHindrance("nodes", undefined, "patch");
  const node = useObject("nodes", undefined, name);
  const [open, setOpen] = useState(false);
  if (!node) return null;
  return (
    <>
      <Action label={say("pools.edit")} disabled={refused} onClick={() => setOpen(true)} />
      {open && <Layer onClose={() => setOpen(false)}><PoolsDialog kind={kind} node={node} onClose={() => setOpen(false)} /></Layer>}
    </>
  );
}
