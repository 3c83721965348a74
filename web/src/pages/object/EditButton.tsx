import { useNavigate } from "@tanstack/react-router";
import { useHindrance } from "../../actions/useHindrance";
import { Action } from "../../components/parts";
import { useSay } from "../../i18n";
import { type Kind, rehearsed, writable } from "../../kinds/registry";

/** Opens the editor, as the key E does. A pool is changed by a rehearsal, which has a button of its own. */
export function EditButton({ kind, namespace }: { kind: Kind; namespace: string | undefined }) {
  const say = useSay();
  const navigate = useNavigate();
  const hindrance = useHindrance(kind.plural, namespace, "patch");
  if (!writable.includes(kind.plural) || rehearsed.includes(kind.plural)) return null;
  return <Action label={say("action.edit")} disabled={hindrance} onClick={() => void navigate({ to: ".", search: (before) => ({ ...before, tab: "yaml" }) })} />;
}
