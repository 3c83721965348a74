// The API server itself, past the console: what came of a click is asked here. Requests go through "kubectl proxy".
import { patience } from "./browser.mjs";

const roots = {
  pods: "api/v1", services: "api/v1", nodes: "api/v1", namespaces: "api/v1", serviceaccounts: "api/v1", deployments: "apis/apps/v1",
  podsets: "apis/apps.jicki.cn/v1alpha1", podbuggertools: "apis/apps.jicki.cn/v1alpha1", nodepools: "apis/nodes.lailin.xyz/v1",
  virtualmachines: "apis/cloudnative.tw/v1alpha1", clusters: "apis/clusterprovisioner.rke.io/v1alpha1", kubeconfigs: "apis/clusterprovisioner.rke.io/v1alpha1",
  clusterroles: "apis/rbac.authorization.k8s.io/v1", clusterrolebindings: "apis/rbac.authorization.k8s.io/v1", rolebindings: "apis/rbac.authorization.k8s.io/v1",
  poddisruptionbudgets: "apis/policy/v1",
};
const kinds = { pods: "Pod", serviceaccounts: "ServiceAccount", clusterroles: "ClusterRole", clusterrolebindings: "ClusterRoleBinding", rolebindings: "RoleBinding", podsets: "PodSet", services: "Service", nodes: "Node", namespaces: "Namespace", deployments: "Deployment", clusters: "Cluster", poddisruptionbudgets: "PodDisruptionBudget" };

export class Cluster {
  #base;
  constructor(base) { this.#base = base; }

  async #ask(method, path, body, type = "application/json") {
    const answer = await fetch(`${this.#base}/${path}`, { method, headers: { "Content-Type": type }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    if (answer.status === 404) return undefined;
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${said.message}`);
    return said;
  }

  #path(plural, namespace, ...more) {
    return [roots[plural], ...(namespace ? ["namespaces", namespace] : []), plural, ...more].join("/");
  }

  /** Reads an object; undefined if there is none. */
  get(plural, namespace, name) { return this.#ask("GET", this.#path(plural, namespace, name)); }
  async list(plural, namespace, labels = "") { return (await this.#ask("GET", `${this.#path(plural, namespace)}?labelSelector=${encodeURIComponent(labels)}`)).items; }
  create(plural, namespace, object, manager = "visit") {
    return this.#ask("POST", `${this.#path(plural, namespace)}?fieldManager=${manager}`, { apiVersion: roots[plural].replace(/^apis?\//, ""), kind: kinds[plural], ...object });
  }
  patch(plural, namespace, name, body) { return this.#ask("PATCH", this.#path(plural, namespace, name), body, "application/merge-patch+json"); }
  delete(plural, namespace, name) { return this.#ask("DELETE", this.#path(plural, namespace, name)); }
  async token(namespace, account) { return (await this.#ask("POST", this.#path("serviceaccounts", namespace, account, "token"), { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} })).status.token; }

  /** Reads an object again until it is as it shall be, and returns it. */
  async until(plural, namespace, name, what, holds) {
    const end = Date.now() + patience;
    for (;;) {
      const object = await this.get(plural, namespace, name);
      if (holds(object)) return object;
      if (Date.now() > end) throw new Error(`not within ${patience / 1000} s: ${plural} ${name}: ${what}: ${JSON.stringify({ metadata: object?.metadata, spec: object?.spec, status: object?.status }).slice(0, 1500)}`);
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  gone(plural, namespace, name) { return this.until(plural, namespace, name, "it is gone", (object) => object === undefined); }
}

/** Who owns a field of an object, which is named as managedFields name it: owners(pod, "f:spec", "f:nodeName"). */
export function owners(object, ...field) {
  return (object.metadata.managedFields ?? []).filter(({ fieldsV1 }) => field.reduce((at, part) => at?.[part], fieldsV1) !== undefined).map(({ manager }) => manager);
}
