import { useMemo, useState } from "react";
import { targetOf } from "../../actions/useOrder";
import type { KubeObject } from "../../api/types";
import { Layer } from "../../components/Layer";
import { later } from "../../components/later";
import { Action, Command } from "../../components/parts";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { store } from "../../live/store";
import { useCut } from "../../live/useCut";
import { may, useRights } from "../../shell/session";
import { type Bulk, bulks, scaling, together } from "./bulk";
import { byKey, focusRow } from "./focus";

const BulkDialog = later(async () => (await import("./BulkDialog")).BulkDialog);

/** What can be done with everything that is selected, with the very command of what the pointer or the focus is on. */
export function BulkBar({ kind, objects, chosen, more, onChoose, onAll, onClear }: {
  kind: Kind; objects: readonly KubeObject[]; chosen: Bulk | undefined; more: number | undefined; onChoose: (bulk: Bulk | undefined) => void; onAll: () => void; onClear: () => void;
}) {
  const say = useSay();
  const cut = useCut(kind.plural);
  const namespaces = useMemo(() => new Set(objects.map((object) => object.metadata.namespace)), [objects]);
  const rights = useRights(namespaces.size === 1 ? [...namespaces][0] : undefined);
  const offered = useMemo(() => {
    const all = objects.map((object) => ({ target: targetOf(kind, object), object }));
    const scale = scaling(all, ({ kind: { plural }, namespace, name }) => store.get(plural, namespace, name));
    // What deletes comes last.
    return [...bulks(all), ...(scale ? [scale] : [])].sort((one, other) => Number(one.danger) - Number(other.danger));
  }, [kind, objects]);
  const [at, setAt] = useState<Bulk["key"]>();
  const shown = offered.find((bulk) => bulk.key === at) ?? offered[0];
  const lines = useMemo(() => (shown ? together(shown.deeds.map(({ target, deed }) => ({ target, order: deed.order }))) : []), [shown]);
  const refused = (bulk: Bulk) => {
    if (cut) return cut;
    const forbidden = [...namespaces].some((namespace) => !may(rights, kind.plural, namespace, bulk.right) && namespaces.size === 1);
    return forbidden ? say("action.refused", { verb: bulk.right, kind: say(`kind.${kind.plural}`) }) : undefined;
  };
  return (
    <section className="bulk" aria-label={say("bulk.bar")}>
      <div><strong>{say("bulk.selected", { count: objects.length })}</strong>{more !== undefined && <button type="button" className="plain small" onClick={onAll}>{say("bulk.everything", { count: more })}</button>}</div>
      {lines.length > 0 ? <Command text={lines.length > 2 ? [...lines.slice(0, 2), `# ${say("bulk.rest", { count: lines.length - 2 })}`].join("\n") : lines.join("\n")} /> : <span className="sub">{say("bulk.none")}</span>}
      <span className="row">
        {offered.map((bulk) => (
          <span key={bulk.key} onPointerEnter={() => setAt(bulk.key)} onFocus={() => setAt(bulk.key)}>
            <Action name={bulk.key} label={say("bulk.button", { action: say(bulk.key), count: objects.length })} danger={bulk.danger} disabled={refused(bulk)} onClick={() => onChoose(bulk)} />
          </span>
        ))}
        <button type="button" className="btn quiet icon" aria-label={say("bulk.clear")} onClick={(event) => { onClear(); if (byKey(event)) focusRow(); }}><Icon name="close" size={14} /></button>
      </span>
      {chosen && <Layer onClose={() => onChoose(undefined)}><BulkDialog kind={kind} bulk={chosen} refused={refused(chosen)} onClose={() => onChoose(undefined)} onDone={onClear} /></Layer>}
    </section>
  );
}
