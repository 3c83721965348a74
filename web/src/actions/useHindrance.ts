import type { Plural } from "../api/types";
import { useSay } from "../i18n";
import { useCut } from "../live/useCut";
import { may, useRights } from "../shell/session";
import type { Target } from "./commands";

/** Why the caller cannot do something with an object now, in words, by the right that it takes; undefined if they can. */
export function useRefused({ kind, namespace }: Pick<Target, "kind" | "namespace">): (right: string) => string | undefined {
  const say = useSay();
  const cut = useCut(kind.plural);
  const rights = useRights(namespace);
  return (right) => cut ?? (may(rights, kind.plural, namespace, right) ? undefined : say("action.refused", { verb: right, kind: say(`kind.${kind.plural}`) }));
}

/** The same for one right. */
export function useHindrance(plural: Plural, namespace: string | undefined, right: string): string | undefined {
  const say = useSay();
  const cut = useCut(plural);
  const rights = useRights(namespace);
  if (cut) return cut;
  return may(rights, plural, namespace, right) ? undefined : say("action.refused", { verb: right, kind: say(`kind.${plural}`) });
}
