import { Link } from "@tanstack/react-router";
import { Icon } from "../../components/Icon";
import { Action } from "../../components/parts";
import { forms } from "../../forms/registry";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useUnmade } from "./useUnmade";

/** Leads to the form of a kind, as the key N does. Who may not create gets the reason; kinds without a form have no button. */
export function NewButton({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const unmade = useUnmade(namespace);
  const form = forms.find((each) => each.list === kind.plural);
  if (!form) return null;
  const reason = unmade(form);
  if (reason !== undefined) return <Action primary icon="plus" label={say(form.title)} disabled={reason} onClick={() => undefined} />;
  return <Link className="btn primary" to="/create/$form" params={{ form: form.route }} search={(before) => ({ ns: before.ns })} aria-keyshortcuts="n" data-new=""><Icon name="plus" size={14} />{say(form.title)}</Link>;
}
