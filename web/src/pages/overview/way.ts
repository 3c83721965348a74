import type { KubeObject } from "../../api/types";
import type { Key, Values } from "../../i18n";
import { type Kind, pageOf } from "../../kinds/registry";
import type { Matter } from "../../status/order";
import { type Judged, text } from "../../status/status";

/** Where something can be solved, and what the link to there is called. */
export interface Way {
  key: Key;
  values?: Values;
  to: string;
  search?: { tab?: string; group?: string };
}

/** What the way depends on beside the object: the node on which a pool has lost a key. */
export interface Known {
  contested?: string | undefined;
}

type Find = (object: KubeObject & Judged, kind: Kind, known: Known) => Way | undefined;

const own = (key: Key, tab?: string): Find => ({ metadata: { namespace, name = "" } }, kind) => ({ key, values: { name }, to: pageOf(kind.plural, namespace, name), ...(tab ? { search: { tab } } : {}) });
const edit = own("way.edit", "yaml");
/** Its own page, where the button is that solves it. */
const page = own("overview.open");
const log = own("way.log", "logs");
const sum = own("way.sum");
const leaving = own("way.leaving");
/** The pool that the object names. */
const pool: Find = ({ spec }) => {
  const name = text(spec, "nodePool");
  return name ? { key: "overview.open", values: { name }, to: pageOf("nodepools", undefined, name) } : undefined;
};
const pools: Find = () => ({ key: "way.pools", to: "/nodepools" });
const cluster: Find = ({ spec }) => {
  const name = text(spec, "clusterRef", "name");
  return name ? { key: "overview.open", values: { name }, to: pageOf("clusters", undefined, name) } : undefined;
};
const compare: Find = (_, __, { contested }) => (contested ? { key: "way.compare", values: { name: contested }, to: pageOf("nodes", undefined, contested) } : undefined);

/** By kind and reason. Everything else is explained by its checks. */
const ways: Readonly<Record<string, Readonly<Record<string, Find>>>> = {
  nodepools: { KeysHeldElsewhere: compare, TooManyLeaving: leaving, InvalidSelector: page, AdmissionUnsupported: page },
  podsets: {
    PoolCapacityShort: sum, PoolCordoned: pool, PoolDeleting: pool, PoolPaused: pool, PoolHasNoNode: pool, PoolHasNoReadyNode: pool, PoolNodesNotSynced: pool, PoolHandlerMissing: pool,
    PoolRuntimeClassNotReady: pool, PoolNotFound: pools, PoolNotAllowed: pools, ChildRefused: edit, TemplateTooLarge: edit,
  },
  virtualmachines: { Crashed: log, HostMismatch: edit, ImageNotFound: edit, InvalidSpec: edit, NotAllowed: edit, Unsupported: edit, HostNotAllowed: edit, NoRootDisk: edit },
  clusters: {
    WaitingForApproval: own("way.plan"), ConfigUnreadable: edit, ConfigPathRefused: edit, ConfigPathInUse: edit, ConfigRefused: edit, SecretInPlainSight: edit, ProvisionerNotAllowed: edit,
    SSHAuth: log, SSHTunnel: log, UnsupportedDocker: log, PortInUse: log, DiskFull: log, EtcdUnhealthy: log, ImagePull: log, Timeout: log, Interrupted: log, Unknown: log, NodesSkipped: log,
  },
  kubeconfigs: { ClusterNotFound: edit, ClusterNotReady: cluster },
  podbuggertools: { InvalidSelector: edit, ToolFailed: edit, ToolRefused: edit },
};

/** Whether a page is the one to which a way leads. */
export function isThere({ to, search }: Way, path: string, tab: string): boolean {
  return to === path && (search?.tab ?? "") === tab;
}

/** The link of an entry of the overview. */
export function wayOf({ plural, status, objects }: Matter, kind: Kind | undefined, known: Known): Way | undefined {
  const [first] = objects;
  if (!first || !kind) return undefined;
  if (objects.length > 1) return { key: objects.length === 2 ? "way.both" : "overview.show", values: { count: objects.length }, to: `/${plural}`, ...(plural === "virtualmachines" ? { search: { group: "host" } } : {}) };
  // A node says on its page what it lacks; why it is not ready only its machine knows.
  const usual = kind.explained && plural !== "nodes" ? own("way.why", "why") : page;
  return ways[plural]?.[status.reason ?? ""]?.(first, kind, known) ?? usual(first, kind, known);
}
