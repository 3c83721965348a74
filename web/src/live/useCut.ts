import { useSay } from "../i18n";
import { useLink } from "./hooks";
import { useGone } from "./page";

/** Why nothing can be changed now, in words, where what the page shows may be old, or is of an object that is gone; undefined while it is live. */
export function useCut(): string | undefined {
  const say = useSay();
  const link = useLink();
  const gone = useGone();
  if (link === "cut" || link === "expired") return say("action.cut");
  if (link === "stale") return say("action.stale");
  return gone ? say("action.gone") : undefined;
}
