import "./logs.css";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../components/Icon";
import { isComposed } from "../components/letters";
import { Failure, Nothing, Panel } from "../components/parts";
import { save } from "../components/save";
import { useSay } from "../i18n";
import { type Line, shortNames } from "./lines";
import { LineRow } from "./LineRow";
import { kept, type Source, useLog } from "./useLog";

const rowHeight = 18;

function prefix(line: Line): string {
  return [line.time, line.pod && `[${line.pod}/${line.container ?? ""}]`].filter(Boolean).map((word) => `${word ?? ""} `).join("");
}

/** A log as it grows. Whoever scrolls up stays where they are; what has come meanwhile is counted. */
export function LogView({ title, sub, name, sources, following, onFollow, choice }: {
  title: string; sub?: string | undefined; name: string; sources: readonly Source[]; following: boolean; onFollow?: (follow: boolean) => void; choice?: ReactNode;
}) {
  const say = useSay();
  const log = useLog(sources);
  const { lines } = log;
  const [wrap, setWrap] = useState(true);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  /** The newest line when the reader scrolled up; undefined while they are at the end. */
  const [left, setLeft] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const place = useRef({ top: 0, height: 0 });
  const rows = useVirtualizer({
    count: lines.length, estimateSize: () => rowHeight, overscan: 30, getItemKey: (index) => lines[index]?.id ?? index, getScrollElement: () => box.current,
  });
  const found = useMemo(() => {
    const wanted = words.toLowerCase();
    return wanted === "" ? [] : lines.flatMap((line, index) => (line.text.toLowerCase().includes(wanted) ? [index] : []));
  }, [lines, words]);
  const names = useMemo(() => shortNames([...new Set(lines.flatMap((line) => line.pod ?? []))].sort()), [lines]);
  const newest = lines.at(-1)?.id ?? -1;

  // Whoever looks at another log is at its end, wherever they were in the one before.
  useLayoutEffect(() => {
    setLeft(undefined);
    place.current = { top: 0, height: 0 };
  }, [log.of]);
  useLayoutEffect(() => {
    if (left === undefined && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [lines, left, wrap, rows]);

  const stay = (id: number | undefined) => { setLeft(id); log.hold(id !== undefined); };
  const scrolled = () => {
    const { scrollTop: top = 0, scrollHeight: height = 0, clientHeight = 0 } = box.current ?? {};
    const before = place.current;
    place.current = { top, height };
    if (height - top - clientHeight < 4) { if (left !== undefined) stay(undefined); }
    else if (left === undefined && top < before.top - 2 && height >= before.height) stay(newest);
  };
  const jump = (step: number) => {
    if (found.length === 0) return;
    const next = (at + step + found.length) % found.length;
    setAt(next);
    stay(newest);
    rows.scrollToIndex(found[next] ?? 0, { align: "center" });
  };
  const press = (event: KeyboardEvent) => {
    if (isComposed(event.nativeEvent)) return;
    if (event.key === "Enter") jump(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && words !== "") setWords("");
    else return;
    event.preventDefault();
  };
  const download = () => save(`${name}.log`, new Blob(lines.map((line) => `${prefix(line)}${line.text}\n`), { type: "text/plain" }));
  const chosen = found[Math.min(at, found.length - 1)];
  const aside = (
    <span className="row wrap logbar">
      {choice}
      <span className="field find">
        <Icon name="search" size={14} />
        <input value={words} placeholder={say("logs.find")} aria-label={say("logs.find")} spellCheck={false} onChange={(event) => { setWords(event.target.value); setAt(0); }} onKeyDown={press} />
        {words !== "" && <span className="dim small nowrap" role="status">{say("logs.found", { at: found.length === 0 ? 0 : Math.min(at, found.length - 1) + 1, count: found.length })}</span>}
      </span>
      {onFollow && <button type="button" className="btn" aria-pressed={following} onClick={() => onFollow(!following)}>{say("logs.follow")}</button>}
      <button type="button" className="btn" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>{say("logs.wrap")}</button>
      <button type="button" className="btn icon" aria-label={say("logs.download")} title={say("logs.download")} onClick={download}><Icon name="download" /></button>
    </span>
  );
  const waiting = left === undefined ? 0 : newest - left;
  // Of several logs, those that were not cut off go on.
  const over = log.cut || (!log.open && following);
  return (
    <Panel title={title} sub={sub} flush aside={aside}>
      {log.error && <div className="body"><Failure error={log.error} again={log.again} /></div>}
      {!log.error && lines.length === 0 && <Nothing>{say("logs.empty")}</Nothing>}
      {lines.length > 0 && (
        <div className="logbox">
          <div className={wrap ? "log wraps" : "log"} ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-label={title} aria-live="off" lang="en">
            <div className="all" style={{ height: rows.getTotalSize() }}>
              {rows.getVirtualItems().map((item) => {
                const line = lines[item.index];
                return line && <LineRow key={item.key} line={line} index={item.index} start={item.start} measure={rows.measureElement} from={line.pod && names.get(line.pod)} words={words} chosen={item.index === chosen} />;
              })}
            </div>
          </div>
          {left !== undefined && <button type="button" className="btn toend" onClick={() => stay(undefined)}>{waiting > 0 ? say("logs.waiting", { count: waiting }) : say("logs.toEnd")}<Icon name="down" size={14} /></button>}
        </div>
      )}
      {(log.dropped > 0 || over) && (
        <footer className="row wrap">
          {log.dropped > 0 && <span>{say("logs.dropped", { count: kept.lines })}</span>}
          {over && <span className="row">{say(log.cut ? "logs.cut" : "logs.ended")}<button type="button" className="plain" onClick={log.again}>{say("logs.again")}</button></span>}
        </footer>
      )}
    </Panel>
  );
}
