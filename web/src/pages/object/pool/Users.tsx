import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Objects } from "../../../api/types";
import { Nothing, Panel } from "../../../components/parts";
import { mayChoose } from "../../../forms/PoolChoice";
import { useSay } from "../../../i18n";
import { pageOf } from "../../../kinds/registry";
import { selects, selectorText } from "../../../kinds/selector";
import { useObjects, useSlowly } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { useListsAll } from "../../../shell/session";

export interface User { name: string; may: boolean; byDefault: boolean; pods: number }

/** The pool that is the default for a namespace: the first by name of several, and none for what the cluster itself needs. */
function defaultOf(pools: readonly Objects["nodepools"][], namespace: string, labels: Readonly<Record<string, string>>): string | undefined {
  if (namespace === "kube-system") return undefined;
  return pools.filter(({ spec }) => spec?.defaultFor && selects(spec.defaultFor.namespaceSelector, labels)).map(({ metadata }) => metadata.name ?? "").sort()[0];
}

/** Namespaces and what a pool is to them: those that may use it first. */
export function usersOf(pool: Objects["nodepools"], pools: readonly Objects["nodepools"][], namespaces: readonly Objects["namespaces"][], pods: readonly Objects["pods"][]): User[] {
  const of = pool.metadata.name ?? "";
  const using = new Map<string, number>();
  for (const { metadata: { namespace = "" }, spec } of pods) {
    if (spec?.runtimeClassName === of) using.set(namespace, (using.get(namespace) ?? 0) + 1);
  }
  return namespaces.map(({ metadata: { name = "", labels = {} } }): User => {
    const may = mayChoose(pool, labels);
    return { name, may, byDefault: may && defaultOf(pools, name, labels) === of, pods: using.get(name) ?? 0 };
  }).sort((a, b) => Number(b.may) - Number(a.may) || b.pods - a.pods || (a.name < b.name ? -1 : 1));
}

/** Which namespaces may use a pool, for which it is the default, and how many pods of each do. */
export function Users({ name }: { name: string }) {
  const say = useSay();
  const pool = useShown("nodepools", undefined, name);
  const pools = useObjects("nodepools");
  const namespaces = useObjects("namespaces");
  const pods = useSlowly(useObjects("pods"), 1000);
  const listed = useListsAll("namespaces");
  const users = useMemo(() => (pool ? usersOf(pool, pools, namespaces, pods) : []), [pool, pools, namespaces, pods]);
  const allowed = pool?.spec?.allowedNamespaces;
  const selector = allowed?.from === "Selector" ? selectorText(allowed.selector) : undefined;
  return (
    <Panel title={say("tab.users")} sub={selector ? say("users.some", { selector }) : say("users.all")} flush>
      {users.length === 0 ? <Nothing>{say("users.hidden")}</Nothing> : (
        <div className="scroll">
          <table className="cards">
            <thead><tr><th scope="col">Namespace</th><th scope="col">{say("users.use")}</th><th scope="col" className="num">{say("users.pods")}</th></tr></thead>
            <tbody>
              {users.map((user) => (
                <tr key={user.name}>
                  <td className="nm"><Link className="plainlink" to={pageOf("namespaces", undefined, user.name)}>{user.name}</Link></td>
                  <td><span className="row tight">{say(user.may ? "users.may" : "users.mayNot")}{user.byDefault && <span className="chip">{say("users.default")}</span>}</span></td>
                  <td className="num" data-label={say("users.pods")}>{user.pods}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {listed === false && users.length > 0 && <p className="small sub">{say("users.hidden")}</p>}
    </Panel>
  );
}
