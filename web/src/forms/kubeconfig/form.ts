import type { Fields } from "../../editor/json";
import { type Form, nameField, nameOf, textAt } from "../form";

const isToken = (object: Parameters<typeof nameOf>[0]) => textAt(object, "spec", "type") === "ServiceAccountToken";

/** A Kubeconfig to begin with, of a cluster or of none yet: access to read, for an hour. */
function kubeconfigOf(cluster: string): Fields {
  return {
    apiVersion: "clusterprovisioner.rke.io/v1alpha1", kind: "Kubeconfig", metadata: { name: cluster === "" ? "" : `${cluster}-view` },
    spec: { clusterRef: { name: cluster }, type: "ServiceAccountToken", clusterRole: "view", expirationSeconds: 3600 },
  };
}

export const kubeconfig: Form = {
  list: "kubeconfigs", route: "kubeconfigs", schema: "kubeconfigs", title: "form.kubeconfig", about: "form.kubeconfig.about", button: "form.kubeconfig.button", namespaced: false,
  initial: (_, cluster = "") => kubeconfigOf(cluster),
  fields: [
    nameField,
    { path: ["spec", "clusterRef", "name"], label: "fact.cluster", control: { as: "object", plural: "clusters" }, half: true },
    { path: ["spec", "type"], label: "fact.type", control: { as: "choice", options: ["ServiceAccountToken", "Admin"] }, help: "form.kubeconfig.type" },
    { path: ["spec", "clusterRole"], label: "form.role", control: { as: "text", placeholder: "view" }, half: true, only: isToken },
    { path: ["spec", "expirationSeconds"], label: "form.seconds", control: { as: "number" }, half: true, only: isToken },
  ],
  creates: (object) => [
    { kind: "Kubeconfig", name: nameOf(object), about: "form.kubeconfigOf", values: { cluster: textAt(object, "spec", "clusterRef", "name") } },
  ],
};
