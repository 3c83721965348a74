import type { Form } from "../../forms/form";
import { useSay } from "../../i18n";
import { useCut } from "../../live/useCut";
import { may, useRights } from "../../shell/session";

/** Why the caller cannot make an object with a form now, in words; undefined if they can. */
export function useUnmade(namespace: string | undefined): (form: Form) => string | undefined {
  const say = useSay();
  const cut = useCut();
  const rights = useRights(namespace);
  return (form) => {
    if (cut) return cut;
    // In one namespace it may be allowed; without one only who may everywhere can tell, and the API server decides in any case.
    if (form.namespaced && namespace === undefined) return undefined;
    return may(rights, form.list, form.namespaced ? namespace : undefined, "create") ? undefined : say("action.refused", { verb: "create", kind: say(`kind.${form.list}`) });
  };
}
