import { Link, useRouterState } from "@tanstack/react-router";
import { useMemo } from "react";
import type { KubeObject, Plural } from "../api/types";
import { Icon, isIcon, Mark } from "../components/Icon";
import { tellFailure } from "../components/toasts";
import { type Key, useLanguage, useSay } from "../i18n";
import { kinds } from "../kinds/registry";
import { useCounts, useFilled, useHidden, useNow, useObjects } from "../live/hooks";
import { clock } from "../status/age";
import { tallyOf } from "../status/order";
import { Shape } from "../status/shapes";
import { signOut, useLogin } from "./session";

const groups: readonly Key[] = ["group.nodes", "group.workloads", "group.machines", "group.clusters", "group.closer"];

function Count({ plural, namespace }: { plural: Plural; namespace: string | undefined }) {
  const say = useSay();
  const objects: readonly KubeObject[] = useObjects(plural, namespace);
  const filled = useFilled(); // before the first snapshot there is nothing to count, and 0 would be a claim
  const bad = useMemo(() => tallyOf(plural, objects).worst, [plural, objects]);
  return (
    <span className="count">
      {bad && <b title={say("needs.count", { count: bad.count })}><Shape name={bad.name} size={12} />{bad.count}</b>}
      {filled && <span className="total">{objects.length}</span>}
    </span>
  );
}

/** Only kinds that the caller may list, and the page that they are on. */
export function Rail({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const hidden = useHidden();
  const counted = useCounts();
  const here = path.split("/")[1] ?? "";
  const search = namespace ? { ns: namespace } : {};
  const shown = kinds.filter((kind) => kind.plural === here || !hidden.includes(kind.plural) || counted.length === 0);
  return (
    <nav className="rail" aria-label={say("nav.label")}>
      <div className="brand"><Mark />{say("app.name")}</div>
      <div className="nav">
        <Link to="/" search={search} aria-current={here === "" ? "page" : undefined}><Icon name="overview" /><span className="word">{say("nav.overview")}</span></Link>
        {groups.map((group) => {
          const inside = shown.filter((kind) => kind.group === group);
          if (inside.length === 0) return null;
          return (
            <div key={group}>
              <h2 className="nav-group">{say(group)}</h2>
              {inside.map((kind) => (
                <Link key={kind.plural} to="/$kind" params={{ kind: kind.plural }} search={search} aria-current={here === kind.plural ? "page" : undefined} title={say(`kind.${kind.plural}`)}>
                  {isIcon(kind.plural) && <Icon name={kind.plural} />}<span className="word">{say(`kind.${kind.plural}`)}</span>
                  {kind.plural !== "events" && <Count plural={kind.plural} namespace={namespace} />}
                </Link>
              ))}
            </div>
          );
        })}
      </div>
      <Who />
    </nav>
  );
}

function Who() {
  const { say, language } = useLanguage();
  const login = useLogin();
  const now = useNow(60_000);
  if (!login) return null;
  const leave = async () => {
    try {
      await signOut(login.user);
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      tellFailure(say("action.failed", { message: error.message }), error);
    }
  };
  return (
    <div className="foot">
      <div className="user" title={login.groups.join(", ")}>{login.user}</div>
      <div>{login.expiresAt ? say("signedin.until", { time: clock(login.expiresAt, language, now) }) : say("signedin.session")}</div>
      {login.method !== "bearer" && <button type="button" className="plain" onClick={() => void leave()}>{say("signout")}</button>}
    </div>
  );
}
