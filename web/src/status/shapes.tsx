import type { ReactElement } from "react";
import type { Status, StatusName } from "./status";
import { type Say, useSay } from "../i18n";

const line = { fill: "none", stroke: "currentColor", strokeWidth: 1.5, strokeLinecap: "round", strokeLinejoin: "round" } as const;

const shapes: Record<StatusName, ReactElement> = {
  ready: <><circle cx="7" cy="7" r="5.75" {...line} strokeWidth={1.25} /><path d="M4.5 7.2 6.3 9l3.3-3.8" {...line} /></>,
  reconciling: <><circle cx="7" cy="7" r="5.25" {...line} strokeOpacity=".28" strokeWidth={1.75} /><path className="spin" d="M7 1.75A5.25 5.25 0 0 1 12.25 7" {...line} strokeWidth={1.75} /></>,
  retrying: <><path d="M11.9 8.2A5.1 5.1 0 1 1 10.9 3.6" {...line} /><path d="M11.3.9v3.2H8.1" {...line} /></>,
  stalled: <><path d="M4.3.8h5.4l3.5 3.5v5.4l-3.5 3.5H4.3L.8 9.7V4.3z" fill="currentColor" /><path d="M7 3.6v4.2M7 9.9v.6" {...line} stroke="var(--bg)" strokeWidth={1.6} /></>,
  waiting: <><path d="M7 .9 13.1 7 7 13.1.9 7z" {...line} strokeWidth={1.3} /><path d="M7 4.2v3.2M7 9.4v.2" {...line} strokeWidth={1.4} /></>,
  unknown: <><circle cx="7" cy="7" r="5.75" {...line} strokeWidth={1.25} strokeDasharray="2.2 2.3" /><path d="M5.4 5.5c.2-1 .8-1.4 1.6-1.4.9 0 1.6.6 1.6 1.4 0 1.1-1.6 1.2-1.6 2.4M7 9.9v.1" {...line} strokeWidth={1.3} /></>,
  paused: <><circle cx="7" cy="7" r="5.75" {...line} strokeWidth={1.25} /><path d="M5.5 5v4M8.5 5v4" {...line} /></>,
  deleting: <><circle cx="7" cy="7" r="5.75" {...line} strokeWidth={1.25} /><path d="M4.5 7h5" {...line} /></>,
  stopped: <rect x="2.5" y="2.5" width="9" height="9" rx="1" {...line} strokeWidth={1.3} />,
  attention: <><path d="M7 1.6 12.9 12H1.1z" {...line} strokeWidth={1.3} /><path d="M7 5.4v3M7 10v.2" {...line} strokeWidth={1.3} /></>,
};

/** A shape alone, for where its word stands beside it. */
export function Shape({ name, size = 14 }: { name: StatusName; size?: number }) {
  return <span className={`st ${name}`}><svg width={size} height={size} viewBox="0 0 14 14" aria-hidden="true">{shapes[name]}</svg></span>;
}

/** kubectl's words for nodes, which have one in each language of the console. */
function spoken(word: string, say: Say): string {
  if (word === "NotReady") return say("status.notReady");
  return word.startsWith("Ready, ") ? `${say("status.attention")}${say("list.comma")}${word.slice(7)}` : word;
}

/** Shape and word: kubectl's word where it prints one, or ours. */
export function StatusMark({ status, word }: { status: Status; word?: string | undefined }) {
  const say = useSay();
  return (
    <span className={`st ${status.name}`}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{shapes[status.name]}</svg>
      {word ?? (status.word === undefined ? say(`status.${status.name}`) : spoken(status.word, say))}
    </span>
  );
}
