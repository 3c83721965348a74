import { statusOf, type StatusName } from "../status/status";
import type { LineRow } from "./model";

/** Up to so many lines all have their own; of more, those with trouble or most nodes do, and one line is for the others. */
const most = 10;
const trouble: readonly StatusName[] = ["stalled", "unknown", "waiting", "retrying", "attention"];

export interface Line {
  key: string;
  /** The names whose nodes the line goes over: one, or those of all others. */
  names: ReadonlySet<string>;
  row: LineRow | undefined;
  others: number;
  total: number;
}

function rank(row: LineRow): number {
  const at = row.pool ? trouble.indexOf(statusOf("nodepools", row.pool).name) : -1;
  return at < 0 ? trouble.length : at;
}

/** The lines of the map, in the order of the rows. */
export function linesOf(rows: readonly LineRow[]): Line[] {
  const own = (row: LineRow): Line => ({ key: row.name, names: new Set([row.name]), row, others: 0, total: row.total });
  if (rows.length <= most) return rows.map(own);
  const chosen = new Set([...rows].sort((a, b) => rank(a) - rank(b) || b.total - a.total || (a.name < b.name ? -1 : 1)).slice(0, most - 1));
  const rest = rows.filter((row) => !chosen.has(row));
  return [
    ...rows.filter((row) => chosen.has(row)).map(own),
    { key: "", names: new Set(rest.map((row) => row.name)), row: undefined, others: rest.length, total: rest.reduce((sum, row) => sum + row.total, 0) },
  ];
}
