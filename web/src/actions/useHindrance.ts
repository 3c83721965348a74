import type { Plural } from "../api/types";
import { useSay } from "../i18n";
import { useCut } from "../live/useCut";
import { may, useRights } from "../shell/session";

/** Why the caller cannot do something now, in words; undefined if they can. */
export function useHindrance(plural: Plural, namespace: string | undefined, right: string): string | undefined {
  const say = useSay();
  const cut = useCut();
  const rights = useRights(namespace);
  if (cut) return cut;
  return may(rights, plural, namespace, right) ? undefined : say("action.refused", { verb: right, kind: say(`kind.${plural}`) });
}
