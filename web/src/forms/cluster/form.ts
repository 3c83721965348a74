import { type Form, nameField, nameOf, textAt } from "../form";

export const cluster: Form = {
  list: "clusters", route: "clusters", schema: "clusters", title: "form.cluster", about: "form.cluster.about", button: "form.cluster.button", namespaced: false,
  initial: () => ({ apiVersion: "clusterprovisioner.rke.io/v1alpha1", kind: "Cluster", metadata: { name: "" }, spec: { provisioner: "rke", approval: "Manual", config: { inline: "nodes: []\n" } } }),
  fields: [
    nameField,
    { path: ["spec", "provisioner"], label: "fact.tool", control: { as: "choice", options: ["rke", "devcluster"] }, half: true, fixed: true },
    { path: ["spec", "config", "inline"], label: "form.config", control: { as: "area" }, help: "form.config.help" },
    { path: ["spec", "approval"], label: "form.approval", control: { as: "choice", options: ["Auto", "Manual"] }, half: true },
    { path: ["spec", "deletionPolicy"], label: "fact.whenDeleted", control: { as: "choice", options: ["Delete", "Orphan"] }, half: true },
    { path: ["spec", "sshAuth", "privateKeySecretRef", "name"], label: "form.sshSecret", control: { as: "text", placeholderKey: "form.none" }, half: true, only: (object) => textAt(object, "spec", "provisioner") === "rke" },
    { path: ["spec", "sshAuth", "privateKeySecretRef", "key"], label: "form.sshKey", control: { as: "text", placeholder: "ssh-privatekey" }, half: true, only: (object) => textAt(object, "spec", "provisioner") === "rke" },
  ],
  creates: (object) => [{ kind: "Cluster", name: nameOf(object), about: "form.clusterOf", values: { tool: textAt(object, "spec", "provisioner"), approval: textAt(object, "spec", "approval") || "Auto" } }],
};
