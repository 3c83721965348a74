import { useSay } from "../i18n";
import { useLink } from "./hooks";

/** Why nothing can be changed now, in words, where what the page shows may be old; undefined while it is live. */
export function useCut(): string | undefined {
  const say = useSay();
  const link = useLink();
  if (link === "cut" || link === "expired") return say("action.cut");
  return link === "stale" ? say("action.stale") : undefined;
}
