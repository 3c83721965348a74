import { useCallback, useState, type ReactNode } from "react";
import { Later, later } from "../components/later";
import { Action, Command, Panel, Skeleton } from "../components/parts";
import { type Say, useSay } from "../i18n";
import { Shape } from "../status/shapes";
import type { Ending } from "./protocol";

const Screen = later(async () => (await import("./Screen")).Screen);

function sentence(say: Say, end: Ending): { good: boolean; text: string; server?: string } {
  switch (end.how) {
    case "exited": return { good: end.code === 0, text: end.code === 0 ? say("terminal.done") : say("terminal.exited", { code: end.code }) };
    case "failed": return { good: false, text: say("terminal.failed"), server: end.message };
    case "left": return { good: true, text: say("terminal.left") };
    case "refused": return { good: false, text: say("terminal.refused"), server: end.message };
    case "closed": return { good: false, text: say(end.code === 1001 ? "terminal.stopped" : "terminal.closed", { code: end.code }), server: end.message };
  }
}

/** A terminal that is opened and opened again by hand, and says why it has ended. title is that of what is opened by its name: what is on the screen keeps its own. */
export function TerminalPanel({ name = "", title, path, kubectl, disabled, choice }: {
  name?: string; title: (name: string) => string; path: string; kubectl?: string | undefined; disabled?: string | undefined; choice?: ReactNode;
}) {
  const say = useSay();
  /** The connection, which is counted, because each one has a screen of its own. It keeps its path and its name: others are chosen for the next. */
  const [at, setAt] = useState<{ turn: number; path: string; name: string }>();
  const [state, setState] = useState<"none" | "opening" | "open" | "ended">("none");
  const [end, setEnd] = useState<Ending>();
  const opened = useCallback(() => setState("open"), []);
  const ended = useCallback((how: Ending) => { setEnd(how); setState("ended"); }, []);
  const begin = () => { setEnd(undefined); setState("opening"); setAt({ turn: (at?.turn ?? 0) + 1, path, name }); };
  const leave = () => { setAt(undefined); setState("ended"); setEnd({ how: "left" }); };
  const runs = state === "opening" || state === "open";
  const said = end && sentence(say, end);
  const button = runs
    ? <Action label={say("terminal.leave")} onClick={leave} />
    : <Action label={state === "none" ? say("terminal.open") : say("terminal.again")} disabled={disabled} onClick={begin} />;
  const sub = state === "open" ? say("terminal.keys") : state === "opening" ? say("terminal.opening") : undefined;
  return (
    <Panel title={title(at?.name ?? name)} sub={sub} flush aside={<span className="row">{!runs && choice}{button}</span>}>
      {said && (
        <div className={said.good ? "reasonbox flat" : "reasonbox flat stalled"} role="status">
          <Shape name={said.good ? "stopped" : "stalled"} /><div>{said.text}{said.server && <div lang="en">{said.server}</div>}</div>
        </div>
      )}
      {state === "none" && <div className="body"><p className="sub">{disabled ?? say("terminal.about")}</p>{kubectl && <Command text={kubectl} />}</div>}
      {at && <Later fallback={<Skeleton />}><Screen key={at.turn} path={at.path} label={title(at.name)} onOpen={opened} onEnd={ended} /></Later>}
    </Panel>
  );
}
