import { Link } from "@tanstack/react-router";
import type { KubeObject } from "../../api/types";
import { Command } from "../../components/parts";
import { Said } from "../../components/Said";
import { flagsOf, quoted } from "../../actions/commands";
import { useLanguage, useSay } from "../../i18n";
import { factsOf } from "../../kinds/facts";
import type { Kind } from "../../kinds/registry";
import { useNow } from "../../live/hooks";
import { useShown } from "../../live/page";
import { age, clock } from "../../status/age";
import { Shape } from "../../status/shapes";
import { conditionsOf, conditionStatus, type Status } from "../../status/status";

export function Facts({ kind, object }: { kind: Kind; object: KubeObject }) {
  const { say, language } = useLanguage();
  const now = useNow(10_000);
  const created = object.metadata.creationTimestamp;
  return (
    <section>
      <h2>{say("facts.title")}</h2>
      <dl className="kv">
        {factsOf(kind.plural, object).map((fact) => (
          <div key={fact.key}>
            <dt>{say(fact.key)}</dt>
            <dd lang={fact.time ? undefined : "en"}>{fact.time ? clock(fact.time, language, now) : fact.to ? <Link className="link" to={fact.to}>{fact.value}</Link> : fact.chips ? <span className="row wrap">{fact.chips.length === 0 ? <span className="dim">&lt;none&gt;</span> : fact.chips.map((chip) => <span key={chip} className="chip">{chip}</span>)}</span> : fact.code ? <code>{fact.value}</code> : fact.value}</dd>
          </div>
        ))}
        <div><dt>{say("fact.age")}</dt><dd title={clock(created, language, now)}>{age(created, now)}</dd></div>
      </dl>
    </section>
  );
}

export function Conditions({ object, status }: { object: KubeObject; status: Status }) {
  const say = useSay();
  const now = useNow(10_000);
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return null;
  return (
    <section>
      <h2>{say("facts.conditions")}</h2>
      <ul className="conds">
        {conditions.map((condition) => {
          const shape = conditionStatus(condition, status);
          return (
            <li key={condition.type}>
              <Shape name={shape} />
              <span>
                {condition.type} <span className="dim">{condition.status}</span> <span className="reason small">{condition.reason}</span>
                {shape !== "ready" && <Said inline className="small said" reason={condition.reason} message={condition.message} />}
              </span>
              <span className="dim small">{age(condition.lastTransitionTime, now)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** What a pool wants on its nodes, as one writes it for kubectl. */
export function Wants({ name }: { name: string }) {
  const say = useSay();
  const pool = useShown("nodepools", undefined, name);
  const { labels = {}, taints = [] } = pool?.spec ?? {};
  const keys = [
    ...Object.entries(labels).map(([key, value]) => ({ key, value })), ...taints.map((taint) => ({ key: `taint ${taint.key}`, value: `${taint.value ?? ""}:${taint.effect}` })),
  ];
  if (keys.length === 0) return null;
  return (
    <section>
      <h2>{say("pool.wants")}</h2>
      <div className="who"><ul>{keys.map(({ key, value }) => <li key={key + value} className="pool"><code className="mono">{key}<span className="v">{value === "" || value.startsWith(":") ? value : `=${value}`}</span></code></li>)}</ul></div>
    </section>
  );
}

export function Labels({ object }: { object: KubeObject }) {
  const say = useSay();
  const labels = Object.entries(object.metadata.labels ?? {});
  return (
    <section>
      <h2>{say("facts.labels")}</h2>
      {labels.length === 0 ? <p className="dim">{say("facts.noLabels")}</p> : (
        <ul className="labels">{labels.map(([key, value]) => <li key={key}><code>{key}<span className="dim">={value}</span></code></li>)}</ul>
      )}
    </section>
  );
}

export function InTheShell({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const { namespace, name = "" } = object.metadata;
  return (
    <section>
      <h2>{say("facts.shell")}</h2>
      <Command text={`kubectl describe ${kind.kubectl} ${quoted(name)}${flagsOf({ namespace })}`} />
      <Command text={`kubectl get ${kind.kubectl} ${quoted(name)}${flagsOf({ namespace })} -o yaml`} />
    </section>
  );
}
