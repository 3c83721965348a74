import { type Path, spoken } from "../../editor/json";
import { helpFor } from "../../editor/schema";
import { useSchema } from "../../forms/useSchema";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";

/** What the field at the cursor is, in the words of its schema. */
export function FieldHelpLine({ kind, path }: { kind: Kind; path: Path }) {
  const say = useSay();
  const schema = useSchema(kind.plural);
  const help = helpFor(schema, path);
  if (path.length === 0 || schema === undefined) return <div className="help"><p className="dim small">{say("help.cursor")}</p></div>;
  const facts = help && [help.types.join(say("help.or")), say(help.required ? "help.required" : "help.optional"), ...(help.values.length > 0 ? [help.values.join(", ")] : [])].filter(Boolean);
  return (
    <div className="help">
      <div className="row wrap"><code className="strong">{spoken(path)}</code><span className="dim small">{facts?.join(say("help.comma"))}</span></div>
      <p className="sub small" lang={help ? "en" : undefined}>{help ? help.description : say("help.unknown")}</p>
    </div>
  );
}
