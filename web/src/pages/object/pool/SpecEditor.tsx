import { useMemo, useState } from "react";
import { Refusal } from "../../../api/client";
import { CodeEditor } from "../../../editor/CodeEditor";
import { linesOf, marksOf } from "../../../editor/lines";
import { mistakesIn } from "../../../editor/mistakes";
import { pathAt, reading } from "../../../editor/text";
import { useSay } from "../../../i18n";
import type { Kind } from "../../../kinds/registry";
import { FieldHelpLine } from "../../edit/FieldHelpLine";

/** The text of a pool: what differs from before is marked, what the server has against it stands at its line, and below is what the field at the cursor means. */
export function SpecEditor({ kind, value, before, refusal, onText, onSave }: {
  kind: Kind; value: string; before: string; refusal: Error | undefined; onText: (text: string) => void; onSave: () => void;
}) {
  const say = useSay();
  const [cursor, setCursor] = useState(0);
  const said = useMemo(() => reading(value), [value]);
  const mistakes = useMemo(() => mistakesIn(said, (refusal instanceof Refusal && refusal.problem.errors) || []), [said, refusal]);
  const marks = useMemo(() => marksOf(linesOf(before, value)), [before, value]);
  const field = useMemo(() => pathAt(said.doc, cursor), [said, cursor]);
  return (
    <div className="spec">
      <CodeEditor value={value} label={say("pool.spec")} marks={marks} mistakes={mistakes} onChange={onText} onCursor={setCursor} onSave={onSave} />
      <FieldHelpLine kind={kind} path={field} />
    </div>
  );
}
