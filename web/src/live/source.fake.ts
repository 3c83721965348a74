import type { Schemas } from "../api/types";

/** A stream of a browser that a test speaks for. */
export class Source {
  static readonly CLOSED = 2;
  /** Those that were opened, the newest last. */
  static opened: Source[] = [];
  static get newest(): Source | undefined {
    return Source.opened.at(-1);
  }

  readyState = 0;
  onopen: () => void = () => undefined;
  onerror: () => void = () => undefined;
  readonly #hear = new Map<string, (message: { data: string }) => void>();

  constructor() {
    Source.opened.push(this);
  }

  addEventListener(name: string, hear: (message: { data: string }) => void): void {
    this.#hear.set(name, hear);
  }

  say(event: Schemas["WatchEvent"]): void {
    this.#hear.get(event.type === "complete" ? "snapshot" : event.type)?.({ data: JSON.stringify(event) });
  }

  /** Answers with what ends a stream for good: the browser does not connect again by itself. */
  refuse(): void {
    this.readyState = Source.CLOSED;
    this.onerror();
  }

  close(): void {
    this.readyState = Source.CLOSED;
    this.#hear.clear();
  }
}
