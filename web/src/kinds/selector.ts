import type { Schemas } from "../api/types";

const operators: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`, NotIn: (key, values) => `${key} notin (${values})`, Exists: (key) => key, DoesNotExist: (key) => `!${key}`,
};

/** Labels as a selector in kubectl's syntax; empty without labels. */
export function labelText(labels: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`).join(",");
}

/** A label selector in kubectl's syntax; undefined without a selector. */
export function selectorText(selector: Schemas["LabelSelector"] | undefined): string | undefined {
  if (!selector) return undefined;
  return [
    labelText(selector.matchLabels),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }) => operators[operator]?.(key, (values ?? []).join(",")) ?? `${key} ${operator}`),
  ].filter(Boolean).join(",");
}

/** Whether labels are selected, as Kubernetes has it: an empty selector selects all, and one with an operator that does not exist selects nothing. */
export function selects(selector: Schemas["LabelSelector"] | undefined, labels: Readonly<Record<string, string>> | undefined): boolean {
  const has = labels ?? {};
  return Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => has[key] === value)
    && (selector?.matchExpressions ?? []).every(({ key, operator, values }) => {
      const value = has[key];
      if (operator === "In") return value !== undefined && (values ?? []).includes(value);
      if (operator === "NotIn") return value === undefined || !(values ?? []).includes(value);
      if (operator === "Exists") return value !== undefined;
      return operator === "DoesNotExist" && value === undefined;
    });
}
