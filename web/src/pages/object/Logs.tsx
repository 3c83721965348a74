import { useMemo, useState } from "react";
import { objectPath, query } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { Nothing, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { labelText, selects } from "../../kinds/selector";
import { useObjects } from "../../live/hooks";
import { useShown } from "../../live/page";
import { LogView } from "../../logs/LogView";
import type { Source } from "../../logs/useLog";
import { containersOf } from "./containers";
import { matches } from "./selector";

const tail = 500;
/** How many logs a page follows at once: a browser has six connections to a server without TLS, and the stream has one. */
const most = 4;

/** The logs of an object: of its containers, of its pods, or what a machine or a tool has printed. */
export function Logs({ kind, object }: { kind: Kind; object: KubeObject }) {
  const { namespace, name = "" } = object.metadata;
  switch (kind.plural) {
    case "pods": return <PodLogs namespace={namespace} name={name} />;
    case "services": return <ServiceLogs namespace={namespace} name={name} />;
    case "virtualmachines": return <Text namespace={namespace} kind={kind} name={name} part="console/output" />;
    case "clusters": return <Text namespace={namespace} kind={kind} name={name} part="log" />;
    default: return <MergedLogs kind={kind} namespace={namespace} name={name} />;
  }
}

function Text({ kind, namespace, name, part }: { kind: Kind; namespace: string | undefined; name: string; part: string }) {
  const say = useSay();
  const [following, setFollowing] = useState(true);
  const sources: Source[] = [{ path: `/v1${objectPath(kind.plural, namespace, name)}/${part}${query({ tailLines: tail, follow: following })}`, format: "text" }];
  return <LogView title={say("logs.title")} sub={say("logs.tail", { count: tail })} name={name} sources={sources} following={following} onFollow={setFollowing} />;
}

function Choice({ names, value, all, onChange }: { names: readonly string[]; value: string; all?: boolean; onChange: (name: string) => void }) {
  const say = useSay();
  if (names.length < 2) return null;
  return (
    <label className="field choice">
      <span className="dim">{say("logs.container")}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {all && <option value="">{say("logs.all")}</option>}
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}

function PodLogs({ namespace, name }: { namespace: string | undefined; name: string }) {
  const say = useSay();
  const pod = useShown("pods", namespace, name);
  const [following, setFollowing] = useState(true);
  const [previous, setPrevious] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const names = [...(pod?.spec?.containers ?? []), ...(pod?.spec?.initContainers ?? []), ...(pod?.spec?.ephemeralContainers ?? [])].map((each) => each.name);
  const container = chosen ?? pod?.metadata.annotations?.["kubectl.kubernetes.io/default-container"] ?? names[0] ?? "";
  const restarted = (containersOf(pod).find((each) => each.name === container)?.status?.restartCount ?? 0) > 0;
  const sources: Source[] = [{ path: `/v1${objectPath("pods", namespace, name)}/logs${query({ container, tailLines: tail, follow: following && !previous, previous })}`, format: "text" }];
  const choice = (
    <>
      <Choice names={names} value={container} onChange={(to) => { setChosen(to); setPrevious(false); }} />
      {(restarted || previous) && <button type="button" className="btn" aria-pressed={previous} onClick={() => setPrevious(!previous)}>{say("logs.previous")}</button>}
    </>
  );
  return (
    <LogView
      title={say("logs.title")} sub={say("logs.tail", { count: tail })} name={`${name}-${container}${previous ? "-previous" : ""}`} sources={sources}
      following={following && !previous} onFollow={setFollowing} choice={choice}
    />
  );
}

/** All pods of an owner in one log, merged by the server. */
function MergedLogs({ kind, namespace, name }: { kind: Kind; namespace: string | undefined; name: string }) {
  const say = useSay();
  const podset = useShown("podsets", namespace, name);
  const deployment = useShown("deployments", namespace, name);
  const [following, setFollowing] = useState(true);
  const [container, setContainer] = useState("");
  const names = ((kind.plural === "podsets" ? podset : deployment)?.spec?.template?.spec?.containers ?? []).map((each) => each.name);
  const sources: Source[] = [{ path: `/v1${objectPath(kind.plural, namespace, name)}/logs${query({ container, tailLines: tail, follow: following, format: "json" })}`, format: "json" }];
  return (
    <LogView
      title={say("logs.title")} sub={say("logs.merged", { count: tail })} name={name} sources={sources} following={following} onFollow={setFollowing}
      choice={<Choice names={names} value={container} all onChange={setContainer} />}
    />
  );
}

/** The logs of what a Service leads to: of the Deployments that it selects, and of pods that it selects beside them. */
function ServiceLogs({ namespace, name }: { namespace: string | undefined; name: string }) {
  const say = useSay();
  const service = useShown("services", namespace, name);
  const deployments = useObjects("deployments", namespace);
  const pods = useObjects("pods", namespace);
  const [following, setFollowing] = useState(true);
  const selector = labelText(service?.spec?.selector);
  const all = useMemo((): Source[] => {
    if (selector === "") return [];
    const chosen = deployments.filter((each) => matches(each.spec?.template.metadata?.labels, selector));
    const inside = (labels: Record<string, string> | undefined) => chosen.some((each) => selects(each.spec?.selector, labels));
    const beside = pods.filter((pod) => matches(pod.metadata.labels, selector) && !inside(pod.metadata.labels));
    return [
      ...chosen.map((each): Source => ({ path: `/v1${objectPath("deployments", namespace, each.metadata.name ?? "")}/logs${query({ tailLines: tail, follow: following, format: "json" })}`, format: "json" })),
      ...beside.map((pod): Source => ({ path: `/v1${objectPath("pods", namespace, pod.metadata.name ?? "")}/logs${query({ tailLines: tail, follow: following })}`, format: "text" })),
    ];
  }, [selector, deployments, pods, namespace, following]);
  if (all.length === 0) return <Panel title={say("logs.title")} flush><Nothing>{say(selector === "" ? "logs.noSelector" : "logs.noPods")}</Nothing></Panel>;
  const sub = all.length > most ? say("logs.leftOut", { count: all.length - most }) : say("logs.merged", { count: tail });
  return <LogView title={say("logs.title")} sub={sub} name={name} sources={all.slice(0, most)} following={following} onFollow={setFollowing} />;
}
