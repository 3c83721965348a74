import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { KubeObject } from "../../api/types";
import { Nothing } from "../../components/parts";
import { Said, Step } from "../../components/Said";
import { useLanguage, useSay } from "../../i18n";
import { type Kind, kindOf, pageOf } from "../../kinds/registry";
import { useNow } from "../../live/hooks";
import { age } from "../../status/age";
import type { Matter } from "../../status/order";
import { progressOf } from "../../status/progress";
import { StatusMark } from "../../status/shapes";
import { text } from "../../status/status";
import { useWhy } from "../object/useWhy";
import { contested } from "../parts/contested";
import { wayOf } from "./way";

const atFirst = 6;

/** The next step of what needs somebody, of its first cause. */
function Next({ kind, object }: { kind: Kind; object: KubeObject }) {
  const why = useWhy(kind, object, { every: 10_000 });
  const failed = why.data?.checks.find((check) => check.state === "Failed");
  return failed?.next && !why.old ? <Step text={failed.next.text} /> : null;
}

/** How far it is. */
function Far({ plural, object }: { plural: string; object: KubeObject }) {
  const say = useSay();
  const now = useNow();
  const progress = progressOf(plural, object, now);
  return progress ? <div className="next">{say(progress.key, progress.values)}</div> : null;
}

function Row({ matter, explained }: { matter: Matter; explained: boolean }) {
  const { say, language, meaning } = useLanguage();
  const now = useNow(10_000);
  const { plural, status, objects } = matter;
  const kind = kindOf(plural);
  // Chinese has a word for most kinds, which is the same for one and for many.
  const kindName = kind && language === "zh" ? say(`kind.${kind.plural}`) : (kind?.kind ?? plural);
  const [first] = objects;
  const namespace = first?.metadata.namespace;
  const name = first?.metadata.name ?? "";
  const to = pageOf(plural, namespace, name);
  // Looked for once for each change of the status: there can be thousands of nodes.
  const node = useMemo(() => (plural === "nodepools" && status.reason === "KeysHeldElsewhere" ? contested(name) : undefined), [plural, status, name]);
  const way = wayOf(matter, kind, { contested: node });
  const hosts = new Set(plural === "virtualmachines" ? objects.map((object) => text(Object.getOwnPropertyDescriptor(object, "status")?.value, "server", "host")) : []);
  const [host] = hosts.size === 1 ? hosts : [];
  return (
    <li>
      <span><StatusMark status={status} word={plural === "virtualmachines" ? say(`status.${status.name}`) : undefined} /></span>
      <div>
        <div className="obj">
          <span>
            <span className="kind">{kindName}</span>{" "}
            {objects.length > 1
              ? <Link className="name" to="/$kind" params={{ kind: plural }}>{host ? say("overview.onHost", { count: objects.length, host }) : say("overview.objects", { count: objects.length, kind: kind ? say(`kind.${kind.plural}`) : plural })}</Link>
              : <Link className="name" to={to}>{namespace && <span className="ns">{namespace}/</span>}{name}</Link>}
          </span>
          {status.reason && <span className="reason">{status.reason}</span>}
        </div>
        <Said className="say" reason={status.reason} message={status.message} />
        {matter.holds && matter.holds.length > 0 && <div className="say">{say("overview.holds", { pools: matter.holds.join(", ") })}</div>}
        {!explained && objects.length === 1 && first && <Far plural={plural} object={first} />}
        {/* What a reason means, where it is told, has the next step. */}
        {explained && status.name !== "ready" && (
          <div className="next">
            {!meaning(status.reason) && kind?.explained && first && <Next kind={kind} object={first} />}{" "}
            {way && <Link className="link intext" to={way.to} search={way.search ?? {}} aria-label={objects.length > 1 ? undefined : `${say(way.key, way.values)}: ${name}`}>{say(way.key, way.values)}</Link>}
          </div>
        )}
      </div>
      <span className="age">{status.since ? age(status.since, now) : ""}</span>
    </li>
  );
}

export function Matters({ matters, nothing, explained = false }: { matters: readonly Matter[]; nothing: string; explained?: boolean }) {
  const say = useSay();
  const [all, setAll] = useState(false);
  if (matters.length === 0) return <Nothing>{nothing}</Nothing>;
  const shown = all ? matters : matters.slice(0, atFirst);
  return (
    <>
      <ul className="need">
        {shown.map((matter) => {
          const [first] = matter.objects;
          return <Row key={`${matter.plural}/${first?.metadata.namespace ?? ""}/${first?.metadata.name ?? ""}/${matter.status.reason ?? ""}`} matter={matter} explained={explained} />;
        })}
      </ul>
      {shown.length < matters.length && <button type="button" className="plain more" onClick={() => setAll(true)}>{say("overview.more", { count: matters.length - shown.length })}</button>}
    </>
  );
}
