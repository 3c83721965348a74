import type { Schemas } from "../api/types";

const operators: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`, NotIn: (key, values) => `${key} notin (${values})`, Exists: (key) => key, DoesNotExist: (key) => `!${key}`,
};

/** A label selector as one types it for kubectl; undefined where there is none. */
export function selectorText(selector: Schemas["LabelSelector"] | undefined): string | undefined {
  if (!selector) return undefined;
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }) => operators[operator]?.(key, (values ?? []).join(",")) ?? `${key} ${operator}`),
  ].join(",");
}
