import { useEffect, useRef, useState } from "react";
import { objectPath, query, send } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { Failure, Nothing, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";

const tail = 500;
/** How many lines the page keeps; older ones leave. */
const kept = 5000;

const paths: Record<string, string> = { virtualmachines: "console/output", clusters: "log" };

/** The log of an object, followed if wanted. Who scrolls up stays where they are. */
export function Logs({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const { namespace, name = "" } = object.metadata;
  const [following, setFollowing] = useState(true);
  const [wrap, setWrap] = useState(true);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [error, setError] = useState<Error>();
  const end = useRef<HTMLDivElement>(null);
  const path = `/v1${objectPath(kind.plural, namespace, name)}/${paths[kind.plural] ?? "logs"}${query({ tailLines: tail, follow: following })}`;

  useEffect(() => {
    const stop = new AbortController();
    const pull = async () => {
      const answer = await send(path, { signal: stop.signal });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        const all = (rest + part.value).split("\n");
        rest = all.pop() ?? "";
        if (all.length > 0) setLines((before) => [...before, ...all].slice(-kept));
      }
      if (rest !== "") setLines((before) => [...before, rest].slice(-kept));
    };
    setLines([]);
    setError(undefined);
    pull().catch((cause: unknown) => { if (!stop.signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause))); });
    return () => stop.abort();
  }, [path]);

  useEffect(() => {
    const box = end.current?.parentElement;
    if (following && box && box.scrollHeight - box.scrollTop - box.clientHeight < 120) box.scrollTop = box.scrollHeight;
  }, [lines, following]);

  const aside = (
    <span className="row">
      <button type="button" className="btn" aria-pressed={following} onClick={() => setFollowing(!following)}>{following ? say("logs.following") : say("logs.follow")}</button>
      <button type="button" className="btn" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>{say("logs.wrap")}</button>
    </span>
  );
  return (
    <Panel title={say("logs.title")} sub={say("logs.tail", { count: tail })} flush aside={aside}>
      {error && <Failure error={error} />}
      {!error && lines.length === 0 && <Nothing>{say("logs.empty")}</Nothing>}
      {lines.length > 0 && (
        <div className={wrap ? "log wraps" : "log"} tabIndex={0} role="log" aria-label={say("logs.title")} aria-live="off" lang="en">
          {lines.map((line, index) => <div key={index}>{line === "" ? "\u00a0" : line}</div>)}
          <div ref={end} />
        </div>
      )}
    </Panel>
  );
}
