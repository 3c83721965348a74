/** A line of a log, with what is known of where it comes from. */
export interface Line {
  /** Counts the lines that the page has read, so that a line keeps its name while older ones leave. */
  id: number;
  text: string;
  pod?: string;
  container?: string;
  time?: string;
  /** Said by the server about the log, and not by a program. */
  notice?: boolean;
}

/** How long a line may be, in characters. The server cuts at 64 KiB as well. */
export const longest = 64 * 1024;

/** Cuts a stream of text into lines. A line without an end is cut, so that nothing grows for ever. */
export class Splitter {
  #rest = "";

  push(text: string): string[] {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    while (this.#rest.length > longest) {
      lines.push(this.#rest.slice(0, longest));
      this.#rest = this.#rest.slice(longest);
    }
    return lines.flatMap((line) => {
      if (line.length <= longest) return [line];
      return Array.from({ length: Math.ceil(line.length / longest) }, (_, at) => line.slice(at * longest, (at + 1) * longest));
    });
  }

  /** The last line, which may have no end. */
  end(): string[] {
    const last = this.#rest;
    this.#rest = "";
    return last === "" ? [] : [last];
  }
}

const commands = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** A line without what a terminal would obey: colours, and whatever else a program can print. */
export function plain(text: string): string {
  return text.replace(commands, "");
}

interface Document {
  pod?: string;
  container?: string;
  time?: string;
  line?: string;
  notice?: string;
}

/** Reads a line of several pods, which is a JSON document; one that is none is text. */
export function parsed(line: string): Omit<Line, "id"> {
  let document: Document;
  try {
    document = JSON.parse(line);
  } catch {
    return { text: plain(line) };
  }
  const out: Omit<Line, "id"> = { text: plain(document.notice ?? document.line ?? "") };
  if (document.pod) out.pod = document.pod;
  if (document.container) out.container = document.container;
  if (document.time) out.time = document.time;
  if (document.notice !== undefined) out.notice = true;
  return out;
}

/** How much a line asks for attention, as loggers write it. */
export function tone(text: string): "error" | "warning" | undefined {
  if (/\b(?:ERROR|ERRO|FATAL|FATA|PANIC|level=(?:error|fatal|panic)|panic:)/.test(text) || /^[EF]\d{4} /.test(text)) return "error";
  if (/\b(?:WARN|WARNING|level=warn(?:ing)?)\b/.test(text) || /^(?:W\d{4} |Failed )/.test(text)) return "warning";
  return undefined;
}

/** What distinguishes the pods of a log: their names without what all begin with, up to a dash. */
export function shortNames(pods: readonly string[]): ReadonlyMap<string, string> {
  const first = pods[0] ?? "";
  let common = pods.length > 1 ? first.length : 0;
  for (const pod of pods) while (!pod.startsWith(first.slice(0, common))) common--;
  const from = first.slice(0, common).lastIndexOf("-") + 1;
  return new Map(pods.map((pod) => [pod, pod.slice(from)]));
}
