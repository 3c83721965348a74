import type { KubeObject } from "../../api/types";
import { keyOf } from "../../live/store";
import type { Line } from "./groups";
import type { TableRow } from "./Row";

/** A line of the list by its names: its key, and what it and the reason below it are called. A group has no reason. */
export interface Name {
  key: string;
  line: string;
  why: string | undefined;
  /** What its cells are of, where it is a row. */
  of?: KubeObject["metadata"];
}

/** A row that is read again and has not changed is the same object: ten thousand names are made once, and not each second. */
const known = new WeakMap<TableRow, Name>();

export function nameOfRow(row: TableRow): Name {
  let name = known.get(row);
  if (!name) {
    const of: KubeObject["metadata"] = row.object.metadata;
    const key = keyOf(of);
    known.set(row, (name = { key, line: `row ${key}`, why: `why ${key}`, of }));
  }
  return name;
}

/** The key of a row. */
export function keyOfRow(row: TableRow): string {
  return nameOfRow(row).key;
}

const groups = new Map<string, Name>();

export function nameOf(line: Line<TableRow>): Name {
  if ("row" in line) return nameOfRow(line.row);
  let name = groups.get(line.group);
  if (!name) groups.set(line.group, (name = { key: line.group, line: `group ${line.group}`, why: undefined }));
  return name;
}
