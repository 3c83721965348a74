import type { Key } from "../../i18n";
import type { Filter } from "./filter";

/** How long the API takes each part of a filter. */
const most: Readonly<Record<keyof Filter, number>> = { words: 256, labels: 4096, fields: 4096 };
const names: Readonly<Record<keyof Filter, Key>> = { words: "filter.words", labels: "filter.labels", fields: "filter.fields" };

export interface TooLong {
  part: Key;
  length: number;
  most: number;
}

/** The part of a filter that is longer than the API takes: it is not sent, and the field says so. */
export function tooLong(filter: Filter): TooLong | undefined {
  for (const part of ["words", "labels", "fields"] as const) {
    const { length } = filter[part];
    if (length > most[part]) return { part: names[part], length, most: most[part] };
  }
  return undefined;
}
