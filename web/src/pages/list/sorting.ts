import type { KubeObject } from "../../api/types";
import { quantity } from "../../status/quantity";
import { numeric, type Shown } from "./columns";

/** The orders that the server has, beside that by name, which is the one without an order. */
const served = ["created", "-created"];

/** What the server is asked to sort by. */
export function servedSort(sort: string | undefined): string | undefined {
  return sort !== undefined && served.includes(sort) ? sort : undefined;
}

/** The order that a list has: beyond one page only the server can sort, and what it has no order for stays by name. */
export function orderOf(sort: string | undefined, whole: boolean): string | undefined {
  return whole ? sort : servedSort(sort);
}

function isNumber({ column, name }: Shown): boolean {
  return column === undefined ? numeric.includes(name) : column.type === "integer" || column.type === "number";
}

/** How a list is sorted by a column, and how it is after a press of its head: numbers begin with the largest, ages with the newest, and words with the first. */
export function headOf(shown: Shown, sort: string | undefined): { now: "ascending" | "descending" | undefined; next: string | undefined } {
  const { name } = shown;
  if (name === "Age") return { now: sort === "created" ? "descending" : sort === "-created" ? "ascending" : undefined, next: sort === "-created" ? "created" : "-created" };
  if (name === "Name") {
    const first = sort === undefined || sort === "name";
    return { now: first ? "ascending" : sort === "-name" ? "descending" : undefined, next: first ? "-name" : undefined };
  }
  const [up, down] = [name, `-${name}`];
  const now = sort === up ? "ascending" : sort === down ? "descending" : undefined;
  const [first, second] = isNumber(shown) ? [down, up] : [up, down];
  return { now, next: sort === first ? second : sort === second ? undefined : first };
}

interface Row { cells: readonly unknown[]; object: { metadata: KubeObject["metadata"] } }

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || value === "<none>" || value === "<unknown>";
}

const seconds = { d: 86_400, h: 3600, m: 60, s: 1 } as const;

/** The number that a text is, as kubectl prints sizes and durations. */
function numberOf(value: unknown, durations: boolean): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  if (durations) {
    const parts = [...value.matchAll(/(\d+)([dhms])/g)];
    return parts.length > 0 && parts.map(([part]) => part).join("") === value ? parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unit === "d" || unit === "h" || unit === "m" ? seconds[unit] : 1), 0) : undefined;
  }
  return /^\d+(\.\d+)?([num]|[kMGTPE]i?)?$/.test(value) ? quantity(value) : undefined;
}

const texts = new Intl.Collator("en", { numeric: true });

function compare(a: unknown, b: unknown, durations: boolean): number {
  const [one, other] = [numberOf(a, durations), numberOf(b, durations)];
  return one !== undefined && other !== undefined ? one - other : texts.compare(String(a), String(b));
}

/**
 * The rows of a list that is whole, in an order that the server does not have. What has no value comes last either way, and rows with the same value
 * stay by name. own is the value of a column that the console adds.
 */
export function inOrder<R extends Row>(rows: readonly R[], all: readonly Shown[], sort: string | undefined, own: (column: string, row: R) => unknown): readonly R[] {
  if (sort === undefined || sort === "name" || served.includes(sort)) return rows;
  if (sort === "-name") return [...rows].reverse();
  const down = sort.startsWith("-");
  const shown = all.find(({ name }) => name === (down ? sort.slice(1) : sort));
  if (!shown) return rows;
  const durations = shown.column?.type === "date" || shown.column?.format === "date-time";
  const keyed = rows.map((row) => ({ row, value: shown.column ? row.cells[shown.at] : own(shown.name, row) }));
  return keyed.sort((a, b) => {
    const [none, other] = [isEmpty(a.value), isEmpty(b.value)];
    if (none || other) return Number(none) - Number(other);
    return down ? compare(b.value, a.value, durations) : compare(a.value, b.value, durations);
  }).map(({ row }) => row);
}
