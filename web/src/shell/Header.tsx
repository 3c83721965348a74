import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useReducer } from "react";
import { Icon } from "../components/Icon";
import { useLanguage, useSay } from "../i18n";
import { kindOf } from "../kinds/registry";
import { useLink, useNow } from "../live/hooks";
import { useClusterInTitle } from "../live/needs";
import { store } from "../live/store";
import { age, clock } from "../status/age";
import { useNamespaceNames } from "./namespaces";
import { LanguageButton, ThemeButton } from "./Preferences";
import { useLogin } from "./session";

export function Live() {
  const { say, language } = useLanguage();
  const link = useLink();
  const now = useNow();
  // The time since the cut goes on while the ages of what is shown stand still.
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (link !== "cut" && link !== "expired") return undefined;
    const timer = setInterval(again, 1000);
    return () => clearInterval(timer);
  }, [link]);
  const heard = new Date(store.heard).toISOString();
  const word = link === "live" ? say("live.live")
    : link === "cut" || link === "expired" ? say("live.cut", { age: age(new Date(store.lost).toISOString(), Date.now()) })
    : link === "connecting" ? say("live.connecting") : link === "stale" ? say("live.stale") : say("live.catching");
  return (
    <span className={`live ${link}`} title={say("live.last", { time: clock(heard, language, now) })}><i aria-hidden="true" />{word}</span>
  );
}

function NamespaceChoice({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const navigate = useNavigate();
  const all = useNamespaceNames();
  const names = namespace && !all.includes(namespace) ? [...all, namespace].sort() : all;
  const choose = (to: string) => void navigate({ to: ".", search: (before) => ({ ...before, ns: to === "" ? undefined : to }) });
  return (
    <label className="field choice">
      <span className="dim">{say("ns.label")}</span>
      <select value={namespace ?? ""} onChange={(event) => choose(event.target.value)}>
        <option value="">{say("ns.all")}</option>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
      <Icon name="down" size={14} />
    </label>
  );
}

/** What the cluster is called: the beginning of each path, and of the title of the window. */
function Cluster() {
  const say = useSay();
  const name = useLogin()?.cluster ?? "";
  useClusterInTitle(name);
  if (name === "") return null;
  return <><Link to="/" className="cluster" title={say("cluster.title", { name })}>{name}</Link><span aria-hidden="true">/</span></>;
}

function Crumbs() {
  const say = useSay();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [plural = "", ...rest] = path.split("/").slice(1).map(decodeURIComponent);
  const kind = kindOf(plural);
  if (plural === "") return <div className="crumbs"><b>{say("nav.overview")}</b></div>;
  if (plural === "create") return <Making route={rest[0] ?? ""} />;
  return (
    <nav className="crumbs" aria-label={path}>
      {rest.length === 0
        ? <b>{kind ? say(`kind.${kind.plural}`) : plural}</b>
        : <Link to="/$kind" params={{ kind: plural }}>{kind ? say(`kind.${kind.plural}`) : plural}</Link>}
      {rest.map((part, index) => (
        <span key={part + String(index)} className="crumb"><span aria-hidden="true">/</span>{index === rest.length - 1 ? <b>{part}</b> : <span>{part}</span>}</span>
      ))}
    </nav>
  );
}

/** The page of a form: under the list of what it makes. */
function Making({ route }: { route: string }) {
  const say = useSay();
  const kind = kindOf(route === "apps" ? "deployments" : route);
  return <div className="crumbs">{kind && <Link to="/$kind" params={{ kind: kind.plural }}>{say(`kind.${kind.plural}`)}</Link>}<span className="crumb"><span aria-hidden="true">/</span><b>{say("create.crumb")}</b></span></div>;
}

export function Header({ namespace, onJump, onMenu }: { namespace: string | undefined; onJump: () => void; onMenu: () => void }) {
  const say = useSay();
  const mac = navigator.userAgent.includes("Mac");
  return (
    <header className="head">
      <button type="button" className="btn quiet icon menu" aria-label={say("nav.menu")} onClick={onMenu}><Icon name="menu" /></button>
      <div className="crumbs"><Cluster /><Crumbs /></div>
      <span className="grow" />
      <NamespaceChoice namespace={namespace} />
      <button type="button" className="field ghost jump" onClick={onJump}>
        <Icon name="search" size={14} /><span className="grow">{say("palette.label")}</span><span className="row keys" aria-hidden="true"><kbd>{mac ? "⌘" : "Ctrl"}</kbd><kbd>K</kbd></span>
      </button>
      <Live />
      <ThemeButton />
      <LanguageButton />
    </header>
  );
}
