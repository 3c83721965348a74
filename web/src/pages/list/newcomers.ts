import type { KubeObject } from "../../api/types";

/** So many are remembered in any case: a filter takes rows away for a while. */
const least = 500;

/**
 * Which rows are new. One that was there when the list was opened is not, nor is one that was seen and comes back into sight; of these only
 * the young have to be remembered.
 */
export class Newcomers {
  readonly #opened: string;
  #seen = new Set<string>();

  constructor(opened: number) {
    this.#opened = `${new Date(opened).toISOString().slice(0, 19)}Z`; // as times of the API are: they are compared as texts
  }

  isFresh({ uid = "", creationTimestamp }: KubeObject["metadata"]): boolean {
    return typeof creationTimestamp === "string" && creationTimestamp > this.#opened && !this.#seen.has(uid);
  }

  /** Sees all rows that there are. Those that are gone are forgotten once they are more than the others: pods come and go while a page is open. */
  see(rows: Iterable<KubeObject["metadata"] | undefined>): void {
    const there = new Set<string>();
    for (const row of rows) if (row && row.uid && typeof row.creationTimestamp === "string" && row.creationTimestamp > this.#opened) there.add(row.uid);
    for (const uid of there) this.#seen.add(uid);
    if (this.#seen.size > 2 * Math.max(least, there.size)) this.#seen = there;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#seen.size;
  }
}
