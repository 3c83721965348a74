import type { Plural } from "../api/types";
import { useSay } from "../i18n";
import { useLink } from "../live/hooks";
import { may, useRights } from "../shell/session";

/** Why the caller cannot do something now, in words; undefined if they can. */
export function useHindrance(plural: Plural, namespace: string | undefined, right: string): string | undefined {
  const say = useSay();
  const link = useLink();
  const rights = useRights(namespace);
  if (link === "cut" || link === "expired") return say("action.cut");
  return may(rights, plural, namespace, right) ? undefined : say("action.refused", { verb: right, kind: say(`kind.${plural}`) });
}
