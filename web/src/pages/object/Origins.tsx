import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Explanation } from "../../api/types";
import { Icon } from "../../components/Icon";
import { Segments } from "../../components/parts";
import { useSay } from "../../i18n";
import { kindOf, pageOf } from "../../kinds/registry";
import { useShown } from "../../live/page";
import { Shape } from "../../status/shapes";
import { useWhy } from "./useWhy";

type Origin = NonNullable<Explanation["origins"]>[number];
type By = "writer" | "key";

/** A value in a line or two; its whole is in the YAML. */
function short(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}…` : value;
}

function rank(origin: Origin | undefined): number {
  return origin?.by === "Pool" ? 0 : origin?.by === "Kubelet" ? 2 : 1;
}

/** Who has set each label, annotation and taint of a node: the pools first, then others, the kubelet last. */
export function Origins({ name }: { name: string }) {
  const say = useSay();
  const [by, setBy] = useState<By>("writer");
  const why = useWhy(kindOf("nodes"), useShown("nodes", undefined, name));
  const origins = why.data?.origins ?? [];
  if (origins.length === 0) return null;
  const count = (kind: string) => origins.filter((origin) => origin.key.startsWith(`${kind} `)).length;
  return (
    <section className="stack">
      <div className="row between wrap">
        <h2>{say("origins.title")} <span className="dim small">{say("origins.counts", { labels: count("label"), annotations: count("annotation"), taints: count("taint") })}</span></h2>
        <Segments label={say("origins.title")} value={by} options={[["writer", say("origins.byWriter")], ["key", say("origins.byKey")]]} onChange={setBy} />
      </div>
      {by === "key"
        ? <div className="who"><ul>{[...origins].sort((a, b) => (a.key < b.key ? -1 : 1)).map((origin) => <Key key={origin.key} origin={origin} writer />)}</ul></div>
        : <Writers origins={origins} />}
    </section>
  );
}

function Writers({ origins }: { origins: readonly Origin[] }) {
  const say = useSay();
  const groups = new Map<string, Origin[]>();
  for (const origin of origins) {
    const group = origin.by === "Pool" ? `pool ${origin.pool ?? "?"}` : origin.by === "Kubelet" ? "kubelet" : "others";
    groups.set(group, [...(groups.get(group) ?? []), origin]);
  }
  return [...groups.entries()].sort((a, b) => rank(a[1][0]) - rank(b[1][0]) || (a[0] < b[0] ? -1 : 1)).map(([group, keys]) => <Writer key={group} keys={keys} title={group === "kubelet" ? say("origins.kubelet") : group === "others" ? say("origins.others") : say("origins.pool", { name: keys[0]?.pool ?? "?" })} />);
}

/** What one writer has set. What the kubelet sets is the same on every node, and is shown when somebody asks. */
function Writer({ title, keys }: { title: string; keys: readonly Origin[] }) {
  const say = useSay();
  const [first] = keys;
  const folds = first?.by === "Kubelet";
  const [open, setOpen] = useState(!folds);
  const sub = first?.by === "Pool" || folds ? say("origins.sub", { count: keys.length }) : say("origins.yours");
  return (
    <div className="who">
      <h3>
        <Icon name={first?.by === "Pool" ? "nodepools" : "nodes"} />
        {first?.by === "Pool" && first.pool ? <Link className="plainlink" to={pageOf("nodepools", undefined, first.pool)}>{title}</Link> : title}
        <span className="dim">{sub}</span>
        {folds && <><span className="grow" /><button type="button" className="plain small" aria-expanded={open} onClick={() => setOpen((before) => !before)}>{say(open ? "origins.hide" : "origins.show")}</button></>}
      </h3>
      {open && <ul>{keys.map((origin) => <Key key={origin.key} origin={origin} />)}</ul>}
    </div>
  );
}

function Key({ origin, writer = false }: { origin: Origin; writer?: boolean }) {
  const say = useSay();
  const lost = origin.lost ?? [];
  const [, kind = "", rest = origin.key] = /^(label|annotation|taint) (.*)$/s.exec(origin.key) ?? [];
  const pool = lost[0];
  return (
    <li className={lost.length > 0 ? "lost" : origin.by === "Pool" ? "pool" : undefined}>
      <code className="mono">{kind === "label" ? "" : `${kind} `}{rest}<span className="v">{origin.value === "" ? "" : `=${short(origin.value)}`}</span></code>
      {lost.length > 0 && (
        <span className="small row"><Shape name="attention" size={12} /><span>{say("origins.lost", { pools: lost.join(", ") })}{pool && <> <Link className="link intext" to={pageOf("nodepools", undefined, pool)}>{say("overview.open", { name: pool })}</Link></>}</span></span>
      )}
      {(writer || origin.by !== "Pool") && origin.message && <span className="small" lang="en">{origin.message}</span>}
    </li>
  );
}
