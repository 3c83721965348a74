import { type Form, nameField, nameOf, namespaceField, namespaceOf, textAt } from "../form";

export const virtualmachine: Form = {
  list: "virtualmachines", route: "virtualmachines", schema: "virtualmachines", title: "form.vm", about: "form.vm.about", button: "form.vm.button", namespaced: true,
  initial: (namespace) => ({ apiVersion: "cloudnative.tw/v1alpha1", kind: "VirtualMachine", metadata: { name: "", namespace }, spec: { resource: { cpu: 1, memory: "1Gi" } } }),
  fields: [
    nameField, namespaceField,
    { path: ["spec", "driver"], label: "fact.driver", control: { as: "choice", options: ["docker", "libvirt", "simulated"] }, half: true, fixed: true },
    { path: ["spec", "host"], label: "fact.host", control: { as: "text", placeholderKey: "form.chosen" }, half: true, fixed: true },
    { path: ["spec", "image", "name"], label: "fact.image", control: { as: "text", placeholder: "nginx:1.17.4" }, help: "form.vm.image" },
    { path: ["spec", "resource", "cpu"], label: "form.cpu", control: { as: "text", placeholder: "2" }, half: true },
    { path: ["spec", "resource", "memory"], label: "form.memory", control: { as: "text", placeholder: "4Gi" }, half: true },
    { path: ["spec", "resource", "rootDisk"], label: "form.rootDisk", control: { as: "text", placeholder: "40Gi" }, half: true, only: (object) => textAt(object, "spec", "driver") === "libvirt" },
    { path: ["spec", "runStrategy"], label: "form.runs", control: { as: "choice", options: ["Always", "RerunOnFailure", "Once", "Halted"] } },
    { path: ["spec", "deletionPolicy"], label: "fact.whenDeleted", control: { as: "choice", options: ["Delete", "Retain"] } },
  ],
  creates: (object) => [{
    kind: "VirtualMachine", name: nameOf(object), namespace: namespaceOf(object), about: "form.vmOf",
    values: { cpu: textAt(object, "spec", "resource", "cpu"), memory: textAt(object, "spec", "resource", "memory"), image: textAt(object, "spec", "image", "name") || "nginx:1.17.4" },
  }],
};
