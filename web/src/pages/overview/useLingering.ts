import { useEffect, useState } from "react";
import type { KubeObject } from "../../api/types";
import { linger, type Shown } from "../../status/linger";
import type { Matter } from "../../status/order";
import { statusOf } from "../../status/status";

/** What needs somebody, with what was solved a moment ago still in its place. of is the namespace: nothing lingers in another one. */
export function useLingering(needs: readonly Matter[], all: Readonly<Record<string, readonly KubeObject[]>>, of: string): readonly Shown[] {
  const [shown, setShown] = useState<{ rows: readonly Shown[]; of: string }>({ rows: needs, of });
  const next = Math.min(...shown.rows.map((row) => row.until ?? Infinity));
  useEffect(() => {
    const isReady = (plural: string, uid: string) => (all[plural] ?? []).some((object) => object.metadata.uid === uid && ["ready", "attention", "stopped"].includes(statusOf(plural, object).name));
    const renew = () => setShown((before) => ({ rows: linger(before.of === of ? before.rows : [], needs, isReady, Date.now()), of }));
    renew();
    if (next === Infinity) return undefined;
    const timer = setTimeout(renew, Math.max(0, next - Date.now()));
    return () => clearTimeout(timer);
  }, [needs, all, of, next]);
  return shown.of === of ? shown.rows : needs;
}
