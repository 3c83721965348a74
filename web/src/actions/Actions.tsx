import { lazy, Suspense, useState } from "react";
import type { KubeObject } from "../api/types";
import { Action } from "../components/parts";
import { useSay } from "../i18n";
import type { Kind } from "../kinds/registry";
import { useCut } from "../live/useCut";
import { may, useRights } from "../shell/session";
import { type Deed, deedsOf } from "./list";
import { targetOf } from "./useOrder";

const Confirm = lazy(async () => ({ default: (await import("./Confirm")).Confirm }));

/** The buttons of an object. What the caller may not do is there, with its reason. */
export function Actions({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const cut = useCut();
  const rights = useRights(object.metadata.namespace);
  const [deed, setDeed] = useState<Deed>();
  const target = targetOf(kind, object);
  const reason = (of: Deed) => {
    if (cut) return cut;
    return may(rights, kind.plural, target.namespace, of.right) ? undefined : say("action.refused", { verb: of.right, kind: say(`kind.${kind.plural}`) });
  };
  return (
    <>
      {deedsOf(target, object).map((each) => (
        <Action key={each.key} name={each.key} label={say(each.key)} danger={each.danger === true} disabled={reason(each)} onClick={() => setDeed(each)} />
      ))}
      {deed && <Suspense fallback={null}><Confirm deed={deed} target={target} onClose={() => setDeed(undefined)} /></Suspense>}
    </>
  );
}
