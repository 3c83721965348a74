import { type ReactNode } from "react";
import { type Line, tone } from "./lines";

const marks = { error: "e", warning: "w" } as const;

/** The text with the words marked that somebody looks for. */
function marked(text: string, words: string): ReactNode {
  if (words === "") return text === "" ? "\u00a0" : text;
  const out: ReactNode[] = [];
  const small = text.toLowerCase();
  const wanted = words.toLowerCase();
  let from = 0;
  for (let at = small.indexOf(wanted); at >= 0; at = small.indexOf(wanted, from)) {
    out.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return [...out, text.slice(from)];
}

export function LineRow({ line, index, start, measure, from, words, chosen }: {
  line: Line; index: number; start: number; measure: (element: HTMLElement | null) => void; from: string | undefined; words: string; chosen: boolean;
}) {
  const heed = tone(line.text);
  const name = ["line", heed && marks[heed], line.notice && "n", chosen && "now"].filter(Boolean).join(" ");
  return (
    <div ref={measure} data-index={index} className={name} style={{ transform: `translateY(${start}px)` }}>
      {from && <span className="from" title={`${line.pod ?? ""}/${line.container ?? ""}`}>{from}</span>}
      <span>{marked(line.text, words)}</span>
    </div>
  );
}
