import { useEffect, useMemo, useRef, useState } from "react";
import { send } from "../api/client";
import { type Line, parsed, plain, Splitter } from "./lines";
import { Ring } from "./ring";

/** Where lines come from. */
export interface Source {
  path: string;
  /** One log is text; that of several pods is a JSON document a line. */
  format: "text" | "json";
}

/** How much the page keeps of a log. */
export const kept = { lines: 10_000, characters: 8 * 1024 * 1024 };
/** How often the page looks at what has come, in milliseconds. */
const every = 100;

export interface Log {
  /** Which reading it is: another one begins with lines of its own. */
  of: string;
  lines: readonly Line[];
  dropped: number;
  /** Whether more can come. */
  open: boolean;
  /** Whether a connection broke before the end, as when the server stops. */
  cut: boolean;
  error: Error | undefined;
  hold: (held: boolean) => void;
  again: () => void;
}

/** Reads a log to its end. False if it was cut off: the server ends what goes on by breaking the connection. */
export async function pull(source: Source, signal: AbortSignal, push: (lines: Omit<Line, "id">[]) => void): Promise<boolean> {
  const answer = await send(source.path, { signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const splitter = new Splitter();
  const read = source.format === "json" ? parsed : (line: string) => ({ text: plain(line) });
  const json = source.format === "json";
  const take = (lines: string[]) => push(lines.filter((line) => !json || line !== "").map(read));
  let whole = true;
  const next = () => reader?.read().catch(() => { whole = false; });
  for (let part = await next(); part && !part.done; part = await next()) take(splitter.push(part.value));
  take(splitter.end());
  return whole;
}

/** Reads logs into one, until they end or the reader leaves. Another choice of sources begins anew. */
export function useLog(sources: readonly Source[]): Log {
  const key = JSON.stringify(sources);
  const [turn, setTurn] = useState(0);
  const [shown, setShown] = useState<Pick<Log, "lines" | "dropped" | "open" | "cut" | "error">>({ lines: [], dropped: 0, open: true, cut: false, error: undefined });
  const ring = useRef<Ring>(undefined);
  useEffect(() => {
    const wanted: Source[] = JSON.parse(key);
    const into = (ring.current = new Ring(kept.lines, kept.characters));
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let open = wanted.length;
    let cut = false;
    let error: Error | undefined;
    const tell = () => {
      timer = undefined;
      if (!stop.signal.aborted) setShown({ lines: into.list(), dropped: into.dropped, open: open > 0, cut, error });
    };
    const soon = () => { timer ??= setTimeout(tell, every); };
    tell();
    for (const source of wanted) {
      pull(source, stop.signal, (lines) => { into.push(lines); soon(); })
        .then((whole) => { cut ||= !whole; })
        .catch((cause: unknown) => { error = cause instanceof Error ? cause : new Error(String(cause)); })
        .finally(() => { open--; soon(); });
    }
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key, turn]);
  return useMemo(() => ({
    ...shown,
    of: `${turn} ${key}`,
    hold: (held: boolean) => { if (ring.current) ring.current.held = held; },
    again: () => setTurn(turn + 1),
  }), [shown, turn, key]);
}
