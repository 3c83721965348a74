import type { components } from "./schema";

export type Schemas = components["schemas"];

/** The kinds that the live store follows, with the type of their objects. */
export interface Objects {
  nodes: Schemas["Node"];
  nodepools: Schemas["NodePool"];
  podsets: Schemas["PodSet"];
  deployments: Schemas["Deployment"];
  services: Schemas["Service"];
  pods: Schemas["Pod"];
  virtualmachines: Schemas["VirtualMachine"];
  clusters: Schemas["Cluster"];
  kubeconfigs: Schemas["Kubeconfig"];
  podbuggertools: Schemas["PodBuggerTool"];
  namespaces: Schemas["Namespace"];
  events: Schemas["Event"];
}
export type Plural = keyof Objects;

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
}

/** What all objects have in common, and what the status of one is told from. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    creationTimestamp?: string | null;
    deletionTimestamp?: string | null;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** A problem of the API, or one that the page itself has noticed. */
export type Problem = Omit<Schemas["Problem"], "type" | "code"> & { type: string; code: string };
export type Explanation = Schemas["Explanation"];
export type Check = Schemas["Check"];
export type Description = Schemas["Description"];
export type Table = Schemas["Table"];
export type Usage = Schemas["Usage"];
export type Login = Schemas["Login"];
export type KindInfo = Schemas["KindInfo"];
export type Rights = Schemas["RightsMatrix"];
