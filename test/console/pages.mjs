// The pages that are visited: each with the path and what shows that it is there.
const n = "showcase";

export const lists = ["nodes", "nodepools", "podsets", "deployments", "services", "pods", "virtualmachines", "clusters", "kubeconfigs", "podbuggertools", "namespaces", "events"];

/** An object of each kind, and most of its tabs. */
export const objects = [
  "/nodes/worker-08", "/nodepools/archive", `/podsets/${n}/train`, `/deployments/${n}/shop`, `/services/${n}/shop`, `/virtualmachines/${n}/bench`, `/virtualmachines/${n}/crash`,
  "/clusters/staging", "/clusters/lab", "/kubeconfigs/viewer", "/podbuggertools/default/shell", `/namespaces/${n}`,
  "/nodepools/archive?tab=why", `/podsets/${n}/train?tab=why`, `/podsets/${n}/train?tab=related`, `/podsets/${n}/train?tab=events`, `/podsets/${n}/train?tab=yaml`,
  "/clusters/staging?tab=nodes", "/clusters/lab?tab=nodes", "/clusters/lab?tab=logs", `/virtualmachines/${n}/crash?tab=logs`,
];

export const pages = ["/", ...lists.map((kind) => `/${kind}`), "/nodes?open=worker-08", ...objects];

/** Those of which README and the guide have pictures. */
export const pictures = {
  "overview": "/", "nodes": "/nodes?open=worker-08", "podset": `/podsets/${n}/train`, "machine": `/virtualmachines/${n}/bench`, "cluster": "/clusters/staging", "nodepool": "/nodepools/archive",
};
