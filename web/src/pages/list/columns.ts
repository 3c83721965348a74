import type { Table } from "../../api/types";

export type Column = Table["columnDefinitions"][number];

/** A column of the table with its place in the cells, or one that the console adds. */
export interface Shown {
  name: string;
  at: number;
  column: Column | undefined;
}

/** Columns that the console adds after those of kubectl. */
export const ours: Readonly<Record<string, readonly string[]>> = { nodes: ["CPU", "Memory", "Pools", "Taints"] };
/** Those of them that are numbers. */
export const numeric: readonly string[] = ["CPU", "Memory"];

/** Always shown, and in the name already. */
const fixed = "Name";
const hidden = "Namespace";

/** All that can be shown of a kind, in the order of the server, then what the console adds. */
export function allColumns(plural: string, definitions: readonly Column[]): Shown[] {
  return [
    ...definitions.map((column, at) => ({ name: column.name, at, column })).filter(({ name }) => name !== hidden),
    ...(ours[plural] ?? []).map((name) => ({ name, at: -1, column: undefined })),
  ];
}

/** Those that are shown until somebody chooses: not the ones of lower priority. */
export function usual(all: readonly Shown[]): string[] {
  return all.filter(({ column }) => column === undefined || column.priority === 0).map(({ name }) => name);
}

/** What a choice shows, in the order of all: names that the server does not have are left out, and the name is always there. */
export function chosen(all: readonly Shown[], choice: string | undefined): Shown[] {
  const names = new Set(choice === undefined ? usual(all) : choice.split(","));
  return all.filter(({ name }) => name === fixed || names.has(name));
}

/** The choice after one more or one less; undefined if it is the usual one. */
export function toggled(all: readonly Shown[], choice: string | undefined, name: string): string | undefined {
  const before = new Set(chosen(all, choice).map((each) => each.name));
  if (!before.delete(name)) before.add(name);
  const names = all.map((each) => each.name).filter((each) => each === fixed || before.has(each));
  const line = names.join(",");
  return line === usual(all).join(",") ? undefined : line;
}

const place = (plural: string) => `windlass.columns.${plural}`;

export function remembered(plural: string): string | undefined {
  return localStorage.getItem(place(plural)) ?? undefined;
}

export function remember(plural: string, choice: string | undefined): void {
  if (choice === undefined) localStorage.removeItem(place(plural));
  else localStorage.setItem(place(plural), choice);
}
