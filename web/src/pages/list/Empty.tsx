import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { quoted } from "../../actions/commands";
import { useHindrance } from "../../actions/useHindrance";
import type { Plural } from "../../api/types";
import { Action, Command, Nothing, Panel } from "../../components/parts";
import { formAt } from "../../forms/registry";
import { type Key, useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { NodeMap } from "../../map/NodeMap";
import { useNodeMap } from "../../map/useNodeMap";
import { rolesOf } from "./roles";

/** What a kind is, in a sentence, and how to begin in a shell. */
const starts: { [K in Plural]?: { about: Key; shell: (namespace: string) => readonly string[] } } = {
  nodes: { about: "empty.nodes", shell: () => ["kubectl get nodes -o wide"] },
  nodepools: { about: "empty.nodepools", shell: () => ["kubectl apply -f config/samples/nodepool-worker.yaml", "kubectl label node my-node node-role.kubernetes.io/worker="] },
  podsets: { about: "empty.podsets", shell: () => ["kubectl apply -f config/samples/podset.yaml"] },
  deployments: { about: "empty.deployments", shell: (ns) => [`kubectl create deployment web --image=nginx${ns}`] },
  services: { about: "empty.services", shell: (ns) => [`kubectl expose deployment web --port=80${ns}`] },
  pods: { about: "empty.pods", shell: (ns) => [`kubectl run try --image=busybox${ns} -- sleep 1h`] },
  virtualmachines: { about: "empty.virtualmachines", shell: () => ["kubectl apply -f config/samples/virtualmachine.yaml"] },
  clusters: { about: "empty.clusters", shell: () => ["kubectl apply -f config/samples/cluster.yaml"] },
  kubeconfigs: { about: "empty.kubeconfigs", shell: () => ["kubectl apply -f config/samples/kubeconfig.yaml"] },
  podbuggertools: { about: "empty.podbuggertools", shell: () => ["kubectl apply -f config/samples/podbuggertool.yaml"] },
};

/** A list that has nothing: what the kind is, what there is to start from, and the same in a shell. */
export function Empty({ kind, namespace, filtered, onClear }: { kind: Kind; namespace: string | undefined; filtered: boolean; onClear: () => void }) {
  const say = useSay();
  const start = starts[kind.plural];
  if (filtered) return <Nothing>{say("list.noMatch")} <button type="button" className="plain" onClick={onClear}>{say("list.clear")}</button></Nothing>;
  return (
    <div className="blank">
      <p className="say">{start ? say(start.about) : say("list.none", { kind: say(`kind.${kind.plural}`) })}</p>
      {kind.plural === "nodepools" && <Roles />}
      <section className="pile">
        <h2>{say("facts.shell")}</h2>
        {(start?.shell(namespace ? ` -n ${quoted(namespace)}` : "") ?? []).map((line) => <Command key={line} text={line} />)}
        <Command text={`kubectl explain ${kind.kubectl} --recursive`} />
      </section>
    </div>
  );
}

/** The nodes as they are, and the roles that would be pools. */
function Roles() {
  const say = useSay();
  const navigate = useNavigate();
  const nodes = useObjects("nodes");
  const shown = useNodeMap();
  const roles = useMemo(() => rolesOf(nodes), [nodes]);
  const hindrance = useHindrance("nodepools", undefined, "create");
  const form = formAt("nodepools");
  if (nodes.length === 0 || !form) return null;
  const create = (name: string) => void navigate({ to: "/create/$form", params: { form: form.route }, search: { of: name } });
  return (
    <>
      <section className="pile"><h2>{say("empty.yourNodes", { count: nodes.length })}</h2><div className="panel"><NodeMap shown={shown} numbers={false} /></div></section>
      {roles.length > 0 && (
        <Panel title={say("empty.roles")} flush>
          <table className="cards">
            <tbody>
              {roles.map((role) => (
                <tr key={role.name}>
                  <td className="nm strong">{role.name}</td><td>{say("empty.nodesOf", { count: role.nodes })}</td>
                  <td className="sub">{[role.least === role.most ? say("empty.each", { cpu: role.most }) : say("empty.between", { least: role.least, most: role.most }), ...(role.shared > 0 ? [say("empty.shared", { count: role.shared })] : [])].join(say("list.comma"))}</td>
                  <td className="num mark"><Action label={say("empty.create", { name: role.name })} disabled={hindrance} onClick={() => create(role.name)} /></td>
                </tr>
              ))}
            </tbody>
          </table>
          <footer>{say("empty.harmless")}</footer>
        </Panel>
      )}
    </>
  );
}
