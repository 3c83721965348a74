import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { query, read } from "../../api/client";
import type { Rights, Schemas } from "../../api/types";
import { Icon } from "../../components/Icon";
import { Command } from "../../components/parts";
import { useSay } from "../../i18n";
import { type Kind, kinds } from "../../kinds/registry";
import { useLogin } from "../../shell/session";
import { grants } from "./grant";

/** Namespaces whose rights are asked for at once, as the API takes them. */
const most = 16;

/** A kind that the caller may not list: the server's words, what an administrator can do, and what there is to see instead. */
export function Forbidden({ kind, namespace, error }: { kind: Kind; namespace: string | undefined; error: Error }) {
  const say = useSay();
  const login = useLogin();
  return (
    <div className="blank">
      <div className="reasonbox shut">
        <Icon name="lock" size={14} />
        <div><h2>{say("forbidden.title", { kind: say(`kind.${kind.plural}`) })}</h2><div className="sub">{say("forbidden.says")} <span lang="en">{error.message}</span></div></div>
        <span />
      </div>
      {login && (
        <section className="pile">
          <h2>{say("forbidden.grant")}</h2>
          {grants(kind, namespace, login.user).map((command) => <Command key={command} text={command} />)}
          <p className="small sub">{say("forbidden.opens")}</p>
        </section>
      )}
      <Instead />
    </div>
  );
}

interface May { plural: Kind["plural"]; write: boolean; where: string }

function mayOf(rights: Rights | undefined): May[] {
  return kinds.flatMap((kind): May[] => {
    const everywhere = rights?.everywhere[kind.plural];
    if (everywhere?.["list"]) return [{ plural: kind.plural, write: everywhere["patch"] === true, where: "" }];
    const inside = Object.entries(rights?.namespaces ?? {}).filter(([, of]) => of[kind.plural]?.["list"]);
    return inside.length === 0 ? [] : [{ plural: kind.plural, write: inside.some(([, of]) => of[kind.plural]?.["patch"]), where: inside.map(([name]) => name).join(", ") }];
  });
}

/** What the caller may see, by what they may do with it and where. */
function Instead() {
  const say = useSay();
  const me = useQuery({ queryKey: ["me"], staleTime: 30_000, queryFn: () => read<Schemas["Me"]>("/v1/me") });
  const ns = me.data?.namespaces.slice(0, most).join(",") ?? "";
  const rights = useQuery({ queryKey: ["rights", "all", ns], enabled: me.isSuccess, staleTime: 30_000, queryFn: () => read<Rights>(`/v1/rights${query({ ns })}`) });
  const groups = new Map<string, May[]>();
  for (const may of mayOf(rights.data)) {
    const key = `${may.where}/${String(may.write)}`;
    groups.set(key, [...(groups.get(key) ?? []), may]);
  }
  if (groups.size === 0) return null;
  return (
    <section className="pile">
      <h2>{say("forbidden.instead")}</h2>
      <div className="panel scroll">
        <table>
          <tbody>
            {[...groups.entries()].map(([key, may]) => {
              const [first] = may;
              const where = first?.where ?? "";
              const words = first?.write ? (where === "" ? "forbidden.write" : "forbidden.writeIn") : where === "" ? "forbidden.read" : "forbidden.readIn";
              return (
                <tr key={key}>
                  <td className="wraps">{may.map(({ plural }, at) => <Fragment key={plural}>{at > 0 && ", "}<Link className="link" to="/$kind" params={{ kind: plural }} search={{ ns: where === "" || where.includes(",") ? undefined : where }}>{say(`kind.${plural}`)}</Link></Fragment>)}</td>
                  <td className="sub wraps">{say(words, { where })}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
