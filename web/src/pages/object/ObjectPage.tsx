import { Link, useParams, useSearch } from "@tanstack/react-router";
import { Actions } from "../../actions/Actions";
import { Bar } from "../../components/Bar";
import { Later, later } from "../../components/later";
import { Panel, Skeleton } from "../../components/parts";
import { useLanguage, useSay, type Key } from "../../i18n";
import { type Kind, kindOf } from "../../kinds/registry";
import { useFilled, useLast } from "../../live/hooks";
import { useTitle } from "../../live/needs";
import { OfPage, useShown } from "../../live/page";
import { clock } from "../../status/age";
import { StatusMark } from "../../status/shapes";
import { statusOf, withoutStatus } from "../../status/status";
import { NotFound } from "../NotFound";
import { Conditions, Facts, InTheShell, Labels, Wants } from "./Aside";
import { totalOf } from "./cluster/nodes";
import { EditButton } from "./EditButton";
import { ObjectEvents, useObjectEvents } from "./ObjectEvents";
import { PoolsButton } from "./node/PoolsButton";
import { ChangeButton } from "./pool/ChangeButton";
import { ReasonBox } from "./ReasonBox";
import { Summary } from "./Summary";
import { useObjectKeys } from "./useObjectKeys";

const Why = later(async () => (await import("./Why")).Why);
const Relatives = later(async () => (await import("./Relatives")).Relatives);
const EditPage = later(async () => (await import("../edit/EditPage")).EditPage);
const Users = later(async () => (await import("./pool/Users")).Users);
const Nodes = later(async () => (await import("./cluster/Nodes")).Nodes);
const Logs = later(async () => (await import("./Logs")).Logs);
const Terminals = later(async () => (await import("./Terminals")).Terminals);

export function ClusterObjectPage() {
  const { kind, name } = useParams({ from: "/$kind/$name" });
  const known = kindOf(kind);
  return known && !known.namespaced ? <ObjectPage key={`${kind}/${name}`} kind={known} namespace={undefined} name={name} /> : <NotFound />;
}

export function NamespacedObjectPage() {
  const { kind, namespace, name } = useParams({ from: "/$kind/$namespace/$name" });
  const known = kindOf(kind);
  return known?.namespaced ? <ObjectPage key={`${kind}/${namespace}/${name}`} kind={known} namespace={namespace} name={name} /> : <NotFound />;
}

const withLogs = ["pods", "podsets", "deployments", "services", "virtualmachines", "clusters"];
const withTerminal = ["pods", "virtualmachines"];

function tabsOf(kind: Kind): { id: string; key: Key }[] {
  return [
    { id: "", key: "tab.summary" as const },
    ...(kind.explained ? [{ id: "why", key: "tab.why" as const }] : []),
    ...(kind.plural === "nodepools" ? [{ id: "users", key: "tab.users" as const }] : []),
    ...(kind.plural === "clusters" ? [{ id: "nodes", key: "tab.nodes" as const }] : []),
    ...(withLogs.includes(kind.plural) ? [{ id: "logs", key: "tab.logs" as const }] : []),
    ...(withTerminal.includes(kind.plural) ? [{ id: "terminal", key: "tab.terminal" as const }] : []),
    { id: "events", key: "tab.events" }, { id: "related", key: "tab.related" }, { id: "yaml", key: "tab.yaml" },
  ];
}

/** The page of one object. One that is deleted stays as it was, and says so. */
function ObjectPage({ kind, namespace, name }: { kind: Kind; namespace: string | undefined; name: string }) {
  const { say, language } = useLanguage();
  const filled = useFilled();
  const { tab = "" } = useSearch({ from: "__root__" });
  const { object, gone, denied } = useLast(kind.plural, namespace, name);
  const now = gone === undefined;
  useTitle(`${name} · ${kind.kind}`);
  useObjectKeys(kind, namespace, name, now && object !== undefined && tab !== "yaml" && tab !== "terminal");

  if (!object) return filled ? <div className="blank"><p className="say">{say("object.gone", { name })}</p><Link className="link" to="/$kind" params={{ kind: kind.plural }}>{say(`kind.${kind.plural}`)}</Link></div> : <Skeleton rows={8} />;
  const status = statusOf(kind.plural, object);
  const page = { kind: kind.plural, object, gone: !now };
  if (tab === "yaml") return <OfPage value={page}><Later fallback={<Skeleton />}><EditPage kind={kind} namespace={namespace} name={name} left={{ gone, denied }} /></Later></OfPage>;
  return (
    <OfPage value={page}>
      <div className="title">
        <h1 className="objname"><span className="kind">{kind.kind}</span> {namespace && <span className="ns">{namespace}/</span>}{name}</h1>
        {!(kind.plural in withoutStatus) && <StatusMark status={status} />}
        <Bar className="acts">{now && kind.plural === "nodepools" && <ChangeButton kind={kind} name={name} />}{now && kind.plural === "nodes" && <PoolsButton kind={kind} name={name} />}{now && <EditButton kind={kind} namespace={namespace} />}{now && <Actions kind={kind} object={object} />}</Bar>
      </div>
      {!now && <div className="banner warn">{say(denied ? "object.denied" : "object.deleted", { time: clock(gone, language, Date.now()) })}</div>}
      <ReasonBox kind={kind} object={object} status={status} />
      <Tabs kind={kind} namespace={namespace} name={name} tab={tab} />
      <div className={tab === "" || tab === "why" ? "two" : undefined}>
        <div>
          <Later key={tab} fallback={<Skeleton />}>
            {tab === "" && <Summary kind={kind} object={object} />}
            {tab === "why" && <Why kind={kind} object={object} />}
            {tab === "events" && <Panel title={say("tab.events")} flush><ObjectEvents kind={kind} namespace={namespace} name={name} /></Panel>}
            {tab === "related" && <Relatives kind={kind} object={object} />}
            {tab === "users" && kind.plural === "nodepools" && <Users name={name} />}
            {tab === "nodes" && kind.plural === "clusters" && <Nodes name={name} />}
            {tab === "logs" && <Logs kind={kind} object={object} />}
            {tab === "terminal" && <Terminals kind={kind} object={object} />}
          </Later>
        </div>
        {(tab === "" || tab === "why") && (
          <div className="aside">
            {kind.plural === "nodepools" && <Wants name={name} />}
            <Facts kind={kind} object={object} />
            <Conditions object={object} status={status} />
            <Labels object={object} />
            <InTheShell kind={kind} object={object} />
          </div>
        )}
      </div>
    </OfPage>
  );
}

function Tabs({ kind, namespace, name, tab }: { kind: Kind; namespace: string | undefined; name: string; tab: string }) {
  const say = useSay();
  const events = useObjectEvents(kind, namespace, name).length;
  const nodes = totalOf(useShown("clusters", namespace, name));
  const counts: Record<string, number> = { events, nodes };
  return (
    <nav className="tabs" aria-label={say("object.tabs", { name })}>
      {tabsOf(kind).map(({ id, key }) => (
        <Link key={id} to="." search={(before) => ({ ...before, tab: id === "" ? undefined : id })} activeOptions={{ exact: true, includeSearch: true }} data-chosen={id === tab} aria-current={id === tab ? "page" : undefined}>{say(key)}{(counts[id] ?? 0) > 0 && <span>{counts[id]}</span>}</Link>
      ))}
    </nav>
  );
}
