/** Whether labels match a selector of equalities, which is what these kinds have. */
export function matches(labels: Record<string, string> | undefined, selector: string): boolean {
  return selector.split(",").every((part) => { const [key = "", value = ""] = part.split("="); return labels?.[key] === value; });
}
