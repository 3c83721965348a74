import { type Form, nameField, nameOf, namespaceField, namespaceOf, textAt } from "../form";

const container = ["spec", "template", "spec", "containers", 0] as const;

export const podset: Form = {
  list: "podsets", route: "podsets", schema: "podsets", title: "form.podset", about: "form.podset.about", button: "form.podset.button", namespaced: true, note: "form.poolNote",
  initial: (namespace) => ({
    apiVersion: "apps.jicki.cn/v1alpha1", kind: "PodSet", metadata: { name: "", namespace },
    spec: { size: 1, template: { spec: { containers: [{ name: "main", image: "" }] } } },
  }),
  fields: [
    nameField, namespaceField,
    { path: [...container, "image"], label: "fact.image", control: { as: "text", placeholder: "nginx:alpine" } },
    { path: ["spec", "size"], label: "form.pods", control: { as: "stepper" }, half: true },
    { path: ["spec", "minAvailable"], label: "form.minAvailable", control: { as: "text", placeholderKey: "form.none" }, half: true },
    { path: [...container, "resources", "requests", "cpu"], label: "form.cpu", control: { as: "text", placeholder: "250m" }, half: true, help: "form.each" },
    { path: [...container, "resources", "requests", "memory"], label: "form.memory", control: { as: "text", placeholder: "256Mi" }, half: true, help: "form.each" },
    { path: ["spec", "nodePool"], label: "form.where", control: { as: "pool" } },
  ],
  creates: (object) => [{
    kind: "PodSet", name: nameOf(object), namespace: namespaceOf(object), about: textAt(object, "spec", "nodePool") ? "form.podsOn" : "form.podsAny",
    values: { count: textAt(object, "spec", "size"), image: textAt(object, ...container, "image") || "busybox", pool: textAt(object, "spec", "nodePool") },
  }],
};
