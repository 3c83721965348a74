import { counted, type Form, nameField, nameOf } from "../form";

export const nodepool: Form = {
  list: "nodepools", route: "nodepools", schema: "nodepools", title: "form.nodepool", about: "form.nodepool.about", button: "form.nodepool.button", namespaced: false, note: "form.nodepool.note",
  initial: (_, role = "") => ({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: role }, spec: { dryRun: true } }),
  fields: [
    nameField,
    { path: ["spec", "priority"], label: "fact.priority", control: { as: "number" }, half: true, help: "form.priority" },
    { path: ["spec", "nodeSelector", "matchLabels"], label: "form.members", control: { as: "pairs" }, help: "form.members.help" },
    { path: ["spec", "labels"], label: "form.labels", control: { as: "pairs" }, help: "form.labels.help" },
    { path: ["spec", "taints"], label: "fact.taints", control: { as: "taints" }, help: "form.taints.help" },
    { path: ["spec", "drain", "policy"], label: "fact.drain", control: { as: "choice", options: ["None", "Evict"] }, half: true },
    { path: ["spec", "deletionPolicy"], label: "fact.whenDeleted", control: { as: "choice", options: ["Clean", "Orphan"] }, half: true },
    { path: ["spec", "rollout", "maxConcurrent"], label: "form.rollout", control: { as: "text", placeholder: "10%" }, half: true },
    { path: ["spec", "handler"], label: "fact.handler", control: { as: "text", placeholder: "runc" }, half: true },
    { path: ["spec", "dryRun"], label: "form.rehearse", control: { as: "check" }, help: "form.rehearse.help" },
  ],
  creates: (object) => [{
    kind: "NodePool", name: nameOf(object), about: "form.poolOf", values: { labels: counted(object, "spec", "labels"), taints: counted(object, "spec", "taints") },
  }],
};
