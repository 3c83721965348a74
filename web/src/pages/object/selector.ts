import type { Objects, Schemas } from "../../api/types";
import { selects } from "../../kinds/selector";

type Pod = Objects["pods"];

/** Whether labels match a selector of equalities, which is what Services have. */
export function matches(labels: Record<string, string> | undefined, selector: string): boolean {
  return selector.split(",").every((part) => { const [key = "", value = ""] = part.split("="); return labels?.[key] === value; });
}

/** The pods that a selector chooses, by labels and by expressions; none where it says nothing. */
export function podsOf(pods: readonly Pod[], selector: Schemas["LabelSelector"] | undefined): readonly Pod[] {
  const says = Object.keys(selector?.matchLabels ?? {}).length > 0 || (selector?.matchExpressions ?? []).length > 0;
  return says ? pods.filter((pod) => selects(selector, pod.metadata.labels)) : [];
}
