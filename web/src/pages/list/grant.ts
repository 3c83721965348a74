import { quoted } from "../../actions/commands";
import type { Plural } from "../../api/types";
import type { Kind } from "../../kinds/registry";

/** Roles that let somebody read a kind and change nothing, where there is one. */
const viewers: { [K in Plural]?: string } = {
  nodepools: "windlass-nodepool-viewer", podsets: "windlass-podset-viewer", virtualmachines: "windlass-virtualmachine-viewer", podbuggertools: "windlass-podbuggertool-viewer",
  deployments: "view", services: "view", pods: "view", events: "view",
};

/** The resource as kubectl takes it: with its group where another kind has the same name. */
const resources: { [K in Plural]?: string } = { clusters: "clusters.clusterprovisioner.rke.io", kubeconfigs: "kubeconfigs.clusterprovisioner.rke.io" };

function subject(user: string): { flag: string; name: string } {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace !== undefined && account !== undefined) return { flag: `--serviceaccount=${namespace}:${account}`, name: `${namespace}-${account}` };
  return { flag: quoted(`--user=${user}`), name: user.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "") };
}

/** The commands by which an administrator lets a user list a kind: in a namespace, or everywhere. */
export function grants(kind: Kind, namespace: string | undefined, user: string): string[] {
  const { flag, name } = subject(user);
  const binding = `${name}-${kind.plural}`;
  const role = viewers[kind.plural] ?? `view-${kind.plural}`;
  const make = viewers[kind.plural] ? [] : [`kubectl create clusterrole ${role} --verb=get,list,watch --resource=${resources[kind.plural] ?? kind.plural}`];
  const where = kind.namespaced && namespace ? `rolebinding ${binding} -n ${quoted(namespace)}` : `clusterrolebinding ${binding}`;
  return [...make, `kubectl create ${where} --clusterrole=${role} ${flag}`];
}
