import { isFields } from "../../editor/json";
import { type Form, nameOf, namespaceOf, textAt } from "../form";

const ofService = (location: string) => /service|port/i.test(location);

/** A Deployment and its Service, which the API creates together, or neither of them. */
export const app: Form = {
  list: "deployments", route: "apps", title: "form.app", about: "form.app.about", button: "form.app.button", namespaced: true, note: "form.poolNote",
  initial: (namespace) => ({ name: "", namespace, image: "", replicas: 1, serviceType: "ClusterIP", port: 80 }),
  fields: [
    { path: ["name"], label: "form.name", control: { as: "text" }, half: true, also: ["metadata.name"] },
    { path: ["namespace"], label: "ns.label", control: { as: "namespace" }, half: true, also: ["metadata.namespace"] },
    { path: ["image"], label: "fact.image", control: { as: "text", placeholder: "nginx:alpine" }, also: ["spec.template.spec.containers[0].image"] },
    { path: ["replicas"], label: "form.pods", control: { as: "stepper" }, half: true, also: ["spec.replicas"] },
    { path: ["serviceType"], label: "form.service", control: { as: "choice", options: ["ClusterIP", "NodePort", "LoadBalancer"] }, half: true, also: ["spec.type"] },
    { path: ["port"], label: "form.port", control: { as: "number" }, half: true, also: ["spec.ports[0].port"] },
    { path: ["targetPort"], label: "form.targetPort", control: { as: "text", placeholderKey: "form.asService" }, half: true, also: ["spec.ports[0].targetPort"] },
    { path: ["nodePool"], label: "form.where", control: { as: "pool" }, also: ["spec.template.spec.runtimeClassName"] },
  ],
  creates: (object) => [
    {
      kind: "Deployment", name: nameOf(object), namespace: namespaceOf(object), about: textAt(object, "nodePool") ? "form.podsOn" : "form.podsAny",
      values: { count: textAt(object, "replicas") || "1", image: textAt(object, "image"), pool: textAt(object, "nodePool") }, mine: (location) => !ofService(location),
    },
    {
      kind: "Service", name: nameOf(object), namespace: namespaceOf(object), about: "form.serviceOf",
      values: { type: textAt(object, "serviceType") || "ClusterIP", port: textAt(object, "port") || "80" }, mine: ofService,
    },
  ],
  parts: (answer) => [answer["deployment"], answer["service"]].filter((part) => isFields(part)),
};
