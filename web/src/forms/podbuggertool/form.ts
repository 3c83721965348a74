import { type Form, nameField, nameOf, namespaceField, namespaceOf, textAt } from "../form";

export const podbuggertool: Form = {
  list: "podbuggertools", route: "podbuggertools", schema: "podbuggertools", title: "form.tool", about: "form.tool.about", button: "form.tool.button", namespaced: true,
  initial: (namespace) => ({ apiVersion: "apps.jicki.cn/v1alpha1", kind: "PodBuggerTool", metadata: { name: "", namespace }, spec: { image: "busybox", label: "", maxPods: 10 } }),
  fields: [
    nameField, namespaceField,
    { path: ["spec", "image"], label: "fact.image", control: { as: "text", placeholder: "busybox" } },
    { path: ["spec", "label"], label: "form.podLabel", control: { as: "text", placeholder: "app=web" }, half: true, help: "form.podLabel.help" },
    { path: ["spec", "maxPods"], label: "form.maxPods", control: { as: "number" }, half: true },
    { path: ["spec", "command"], label: "form.command", control: { as: "lines" }, help: "form.command.help" },
    { path: ["spec", "targetContainer"], label: "form.target", control: { as: "text", placeholderKey: "form.none" }, half: true },
  ],
  creates: (object) => [{ kind: "PodBuggerTool", name: nameOf(object), namespace: namespaceOf(object), about: "form.toolOf", values: { image: textAt(object, "spec", "image"), label: textAt(object, "spec", "label") } }],
};
