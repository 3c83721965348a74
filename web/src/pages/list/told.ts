import type { KubeObject } from "../../api/types";
import type { Status } from "../../status/status";
import type { TableRow } from "./Row";

/** So many changes of the status of one object are remembered: the server is asked for the cells once a second. */
const most = 8;

/** What the status of an object was from a version on. */
interface Told { from: string; status: Status }

/** Whether a version is older than another one: they are numbers, of any length. */
export function isOlder(version: string, than: string): boolean {
  return version.length === than.length ? version < than : version.length < than.length;
}

function versionOf(metadata: KubeObject["metadata"]): string {
  return metadata.resourceVersion ?? "";
}

function alike(a: Status, b: Status): boolean {
  return a.name === b.name && a.word === b.word && a.reason === b.reason && a.message === b.message;
}

/**
 * Keeps the mark of a row and its word together. The word is a cell of the server's table, and the mark comes from the stream, at another time:
 * a row has the status that its object had at the version of its cells.
 */
export class Pairs {
  #told = new Map<string, Told[]>();
  #rows = new Map<string, TableRow>();

  /** The row to show: cells that are newer than what the stream has told of the object wait for it. */
  row(row: TableRow, object: KubeObject | undefined): TableRow {
    const { uid = "" }: KubeObject["metadata"] = row.object.metadata;
    const before = this.#rows.get(uid);
    if (before && object?.metadata.uid === uid && isOlder(versionOf(object.metadata), versionOf(row.object.metadata))) return before;
    this.#rows.set(uid, row);
    return row;
  }

  /** The status of the object at the version of a row's cells, or the nearest that is known. */
  status(of: KubeObject["metadata"], object: KubeObject, status: Status): Status {
    const uid = object.metadata.uid ?? "";
    const version = versionOf(object.metadata);
    const told = this.#told.get(uid) ?? [];
    const last = told.at(-1);
    if (!last || (isOlder(last.from, version) && !alike(last.status, status))) {
      told.push({ from: version, status });
      if (told.length > most) told.shift();
      this.#told.set(uid, told);
    }
    if (of.uid !== uid) return status;
    const wanted = versionOf(of);
    if (!isOlder(wanted, version)) return status;
    return (told.findLast(({ from }) => !isOlder(wanted, from)) ?? told[0])?.status ?? status;
  }

  /** Forgets objects that have no row any more, once they are as many as those that have one: pods come and go while a page is open. */
  keep(rows: number, uids: () => Iterable<string | undefined>): void {
    if (this.size <= 2 * rows) return;
    const there = new Set(uids());
    for (const of of [this.#told, this.#rows]) {
      for (const uid of of.keys()) if (!there.has(uid)) of.delete(uid);
    }
  }

  /** How many objects are remembered. */
  get size(): number {
    return Math.max(this.#told.size, this.#rows.size);
  }
}
