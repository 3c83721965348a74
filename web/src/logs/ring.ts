import type { Line } from "./lines";

/** Lines of a log, of which the oldest leave, so that a page that is open for a week needs no more memory than one of an hour. */
export class Ring {
  readonly lines: number;
  readonly characters: number;
  #kept: Line[] = [];
  #size = 0;
  #next = 0;
  /** How many lines have left. */
  dropped = 0;
  /** While the reader looks at older lines, twice as many stay, so that what they read does not leave. */
  held = false;

  constructor(lines: number, characters: number) {
    this.lines = lines;
    this.characters = characters;
  }

  get size(): number {
    return this.#size;
  }

  push(lines: readonly Omit<Line, "id">[]): void {
    for (const line of lines) {
      this.#kept.push({ ...line, id: this.#next++ });
      this.#size += line.text.length;
    }
    const factor = this.held ? 2 : 1;
    let leave = Math.max(0, this.#kept.length - this.lines * factor);
    let size = this.#size;
    for (let at = 0; at < leave; at++) size -= this.#kept[at]?.text.length ?? 0;
    // The newest line stays, however long it is.
    while (size > this.characters * factor && leave < this.#kept.length - 1) size -= this.#kept[leave++]?.text.length ?? 0;
    this.#size = size;
    this.dropped += leave;
    this.#kept = this.#kept.slice(leave);
  }

  list(): readonly Line[] {
    return this.#kept;
  }
}
