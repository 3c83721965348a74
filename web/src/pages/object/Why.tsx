import type { Check, Explanation, KubeObject } from "../../api/types";
import { Command, Failure, Panel, Skeleton } from "../../components/parts";
import { Asked, Step } from "../../components/Said";
import { useLanguage, useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { Shape } from "../../status/shapes";
import { useWhy } from "./useWhy";

const marks = { Passed: "ready", Failed: "stalled" } as const;

function OneCheck({ check, old }: { check: Check; old: boolean }) {
  const say = useSay();
  const word = check.state === "Passed" ? say("why.passed") : check.state === "Failed" ? say("why.failed") : say("why.skipped");
  return (
    <li className={check.state}>
      {check.state === "NotLookedAt" ? <i className="todo" aria-hidden="true" /> : <Shape name={check.state === "Failed" && check.next?.heals ? "reconciling" : marks[check.state]} />}
      <div>
        <div className={check.state === "Failed" ? "strong" : undefined}><Asked check={check} /><span className="sr">: {word}</span> {check.code && <span className="reason">{check.code}</span>}</div>
        {check.message && <div className="sub"><Step text={check.message} /></div>}
        {check.evidence?.map((evidence) => (
          <code key={evidence.object.kind + evidence.object.name + evidence.field} className="evidence">{evidence.object.kind} {evidence.object.name}: {evidence.field} = {evidence.value}</code>
        ))}
        {check.next && !old && (
          <div className="nextstep">
            <div><span className="dim">{say("why.next")}</span> <Step text={check.next.text} /> {check.next.heals && <span className="sub">{say("why.heals")}</span>}</div>
            {check.next.command && <Command text={check.next.command} />}
          </div>
        )}
      </div>
      <span />
    </li>
  );
}

/** The whole in a sentence. */
function Summary({ why }: { why: Explanation }) {
  const { language, say, check } = useLanguage();
  if (language === "en") return <p className="summary">{why.summary}</p>;
  const failed = why.checks.find(({ state }) => state === "Failed");
  if (failed) return <div className="summary"><p>{say("why.broken", { title: check(failed.id) ?? failed.title })}</p><p className="dim small said" lang="en">{why.summary}</p></div>;
  return <p className="summary">{say(why.checks.some((check) => check.state === "NotLookedAt") ? "why.unexplained" : "why.fine")}</p>;
}

function Explained({ why, old, title }: { why: Explanation; old: boolean; title: string }) {
  const say = useSay();
  return (
    <>
      <Panel title={title} sub={say("why.sub")}>
        <Summary why={why} />
        <ol className="steps">{why.checks.map((check) => <OneCheck key={check.id} check={check} old={old} />)}</ol>
      </Panel>
      {why.because && <Explained why={why.because} old={old} title={say("why.because", { name: `${why.because.subject.kind} ${why.because.subject.name}` })} />}
    </>
  );
}

/** Why an object is as it is: the checks in their order, each with its mark. */
export function Why({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const why = useWhy(kind, object);
  if (why.error) return <Failure error={why.error} again={() => void why.refetch()} />;
  if (!why.data) return <Skeleton />;
  return <Explained why={why.data} old={why.old} title={say("why.title")} />;
}
