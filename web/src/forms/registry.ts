import { app } from "./app/form";
import { cluster } from "./cluster/form";
import type { Form } from "./form";
import { kubeconfig } from "./kubeconfig/form";
import { nodepool } from "./nodepool/form";
import { podbuggertool } from "./podbuggertool/form";
import { podset } from "./podset/form";
import { virtualmachine } from "./virtualmachine/form";

/** Everything that has a form. */
export const forms: readonly Form[] = [app, cluster, kubeconfig, nodepool, podbuggertool, podset, virtualmachine];

/** The form that edits objects of a kind. */
export function formOf(plural: string): Form | undefined {
  return forms.find((form) => form.schema === plural);
}

export function formAt(route: string): Form | undefined {
  return forms.find((form) => form.route === route);
}
