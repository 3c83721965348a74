import type { Plural } from "../api/types";
import { useSay } from "../i18n";
import { useBehind, useLink } from "./hooks";
import { useGone } from "./page";

/** Why nothing can be changed now, in words, where what the page shows, or of the kind, may be old, or is of an object that is gone; undefined while it is live. */
export function useCut(kind?: Plural): string | undefined {
  const say = useSay();
  const link = useLink();
  const behind = useBehind();
  const gone = useGone();
  if (link === "cut" || link === "expired") return say("action.cut");
  if (link === "stale") return say("action.stale");
  if (kind && behind.includes(kind)) return say("action.behind", { kind: say(`kind.${kind}`) });
  return gone ? say("action.gone") : undefined;
}
