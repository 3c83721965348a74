export type Grouping = "host" | "namespace" | "none";

/** How a list may be grouped; the first is how it begins. */
export function groupings(plural: string, namespaced: boolean, namespace: string | undefined): readonly Grouping[] {
  if (plural === "virtualmachines") return namespace ? ["host", "none"] : ["host", "namespace", "none"];
  return namespaced && !namespace ? ["none", "namespace"] : ["none"];
}

export type Line<R> = { group: string; count: number; open: boolean } | { row: R; index: number };

/** Rows with a line before each group. Groups are sorted by name, and rows keep their order; those of no group come last. */
export function lines<R>(rows: readonly R[], groupOf: ((row: R) => string) | undefined, closed: ReadonlySet<string>): Line<R>[] {
  if (!groupOf) return rows.map((row, index) => ({ row, index }));
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const group = groupOf(row);
    const there = groups.get(group);
    if (there) there.push(row);
    else groups.set(group, [row]);
  }
  const names = [...groups.keys()].sort((a, b) => (a === "" ? 1 : b === "" ? -1 : a < b ? -1 : 1));
  let index = 0;
  return names.flatMap((group): Line<R>[] => {
    const inside = groups.get(group) ?? [];
    const open = !closed.has(group);
    return [{ group, count: inside.length, open }, ...(open ? inside.map((row) => ({ row, index: index++ })) : [])];
  });
}
