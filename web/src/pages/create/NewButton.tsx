import { Link } from "@tanstack/react-router";
import { Icon } from "../../components/Icon";
import { forms } from "../../forms/registry";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { may, useRights } from "../../shell/session";

/** Leads to the form of a kind, as the key N does. Who may not create gets the reason; kinds without a form have no button. */
export function NewButton({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const rights = useRights(namespace);
  const form = forms.find((each) => each.list === kind.plural);
  if (!form) return null;
  const label = <><Icon name="plus" size={14} />{say(form.title)}</>;
  // In one namespace it may be allowed; without one only who may everywhere can tell, and the API server decides in any case.
  if (namespace === undefined || may(rights, kind.plural, namespace, "create")) {
    return <Link className="btn primary" to="/create/$form" params={{ form: form.route }} search={(before) => ({ ns: before.ns })} aria-keyshortcuts="n" data-new="">{label}</Link>;
  }
  const reason = say("action.refused", { verb: "create", kind: say(`kind.${kind.plural}`) });
  return <button type="button" className="btn primary" aria-disabled title={reason}>{label}<span className="sr">{reason}</span></button>;
}
