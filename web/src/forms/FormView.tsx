import { useMemo } from "react";
import type { Schemas } from "../api/types";
import { at, type Fields, type Json, type Path, touches } from "../editor/json";
import { pathOf } from "../editor/path";
import { helpFor } from "../editor/schema";
import { reading, withField } from "../editor/text";
import { useSay } from "../i18n";
import { Input } from "./Input";
import type { Field, Form } from "./form";
import { useSchema } from "./useSchema";

export type Errors = readonly Schemas["FieldError"][];

/** The fields of a form with the errors that the server has about each. What belongs to none of them is returned as well. */
export function errorsOf(form: Form, object: Fields, errors: Errors): { of: ReadonlyMap<Field, readonly string[]>; others: Errors } {
  const fields = form.fields.filter((field) => field.only?.(object) !== false);
  const of = new Map<Field, string[]>();
  const others = errors.filter((error) => {
    const location = error.location ?? "";
    const path = pathOf(location, object);
    const field = fields.find((each) => each.also?.includes(location)) ?? fields.find((each) => path.length > 0 && touches(path, each.path) && path.length >= each.path.length - 1);
    if (field) of.set(field, [...(of.get(field) ?? []), error.message]);
    return field === undefined;
  });
  return { of, others };
}

/** The first sentence of a description: a form is not a manual. */
function first(description: string | undefined): string {
  return /^.*?[.:](?= |$)/s.exec(description ?? "")?.[0].replace(/:$/, ".") ?? "";
}

/** A form over a text: the object is in the text alone, and every field writes there. What was typed in between stays. */
export function FormView({ form, text, onText, errors, existing = false }: { form: Form; text: string; onText: (text: string) => void; errors: Errors; existing?: boolean }) {
  const say = useSay();
  const schema = useSchema(form.schema);
  const { object, mistakes } = useMemo(() => reading(text), [text]);
  if (!object) return <p className="bad" role="alert">{say("edit.mistakes", { count: mistakes.length })} <span lang="en">{mistakes[0]?.message}</span></p>;
  const wrong = errorsOf(form, object, errors);
  const put = (path: Path, value: Json | undefined) => onText(withField(text, path, value));
  return (
    <div className="form">
      {form.fields.filter((field) => field.only?.(object) !== false).map((field) => {
        const said = wrong.of.get(field) ?? [];
        const id = `field-${field.path.join("-")}`;
        const help = field.help ? say(field.help) : undefined;
        const about = help ?? (schema === undefined ? "" : first(helpFor(schema, field.path)?.description));
        const fixed = existing && field.fixed === true;
        return (
          <div key={id} className={field.half ? "half" : undefined}>
            <Input id={id} field={field} value={at(object, field.path)} namespace={String(at(object, ["metadata", "namespace"]) ?? at(object, ["namespace"]) ?? "")} disabled={fixed} wrong={said.length > 0} onChange={(value) => put(field.path, value)} />
            {said.map((message) => <span key={message} id={`${id}-wrong`} className="hint bad" lang="en">{message}</span>)}
            {said.length === 0 && (about || fixed) && <span className="hint" id={`${id}-help`}>{about && <span lang={help ? undefined : "en"}>{about} </span>}{fixed && say("form.fixed")}</span>}
          </div>
        );
      })}
      {wrong.others.length > 0 && <ul className="bad small stack" role="alert" lang="en">{wrong.others.map((error, index) => <li key={index}>{error.location} {error.message}</li>)}</ul>}
    </div>
  );
}
