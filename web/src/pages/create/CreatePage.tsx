import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { curl, type Order } from "../../actions/commands";
import { isPassing } from "../../api/passing";
import { Action, DoesTheSame, Segments } from "../../components/parts";
import { tell } from "../../components/toasts";
import { useSaveKey } from "../../components/useSaveKey";
import { CodeEditor } from "../../editor/CodeEditor";
import { type Fields } from "../../editor/json";
import { mistakesIn } from "../../editor/mistakes";
import { editableText, pathAt } from "../../editor/text";
import { type Form, madeOf, nameOf, textAt } from "../../forms/form";
import { type Errors, FormView } from "../../forms/FormView";
import { formAt } from "../../forms/registry";
import { useSay } from "../../i18n";
import { kindOf, pageOf } from "../../kinds/registry";
import { useCut } from "../../live/useCut";
import { useTitle } from "../../live/needs";
import { may, useRights } from "../../shell/session";
import { Shape } from "../../status/shapes";
import { FieldHelpLine } from "../edit/FieldHelpLine";
import { NotFound } from "../NotFound";
import { useCreating } from "./useCreating";

const none: Errors = [];

export function CreatePage() {
  const { form } = useParams({ from: "/create/$form" });
  const { ns, of } = useSearch({ from: "__root__" });
  const known = formAt(form);
  return known ? <Creating key={form} form={known} namespace={ns ?? "default"} of={of} /> : <NotFound />;
}

function Creating({ form, namespace, of }: { form: Form; namespace: string; of: string | undefined }) {
  const say = useSay();
  const navigate = useNavigate();
  const cut = useCut(form.list);
  const [shown, setShown] = useState<"form" | "yaml">("form");
  const make = useCreating(form, namespace, of);
  const rights = useRights(form.namespaced ? make.namespace || namespace : undefined);
  const object: Fields = make.said.object ?? {};
  const name = nameOf(object);
  useTitle(say(form.title));
  const errors = make.problem?.problem.errors ?? none;
  const count = make.said.mistakes.length + errors.length;
  const blocked = !may(rights, form.list, form.namespaced ? make.namespace || namespace : undefined, "create") ? say("action.refused", { verb: "create", kind: say(`kind.${form.list}`) })
    : cut ? cut
    : count > 0 ? say(count === 1 ? "create.wrongOne" : "create.wrong", { count })
    : make.problem && !isPassing(make.problem) ? say("edit.refused")
    : make.untouched ? say("create.fill")
    : make.trying || !make.answer ? say("edit.trying") : undefined;
  const create = () => {
    if (blocked !== undefined || make.creating) return;
    void make.create().then((made) => {
      if (!made) return;
      const { namespace: there = namespace, name } = madeOf(object, made);
      tell(say("create.done", { name }));
      void navigate({ to: pageOf(form.list, form.namespaced ? there : undefined, name) });
    });
  };
  useSaveKey(create);
  return (
    <>
      <div className="title">
        <div><h1>{say(form.title)}</h1><p className="sub">{say(form.about)}</p></div>
        <div className="acts"><Segments label={say("edit.view")} value={shown} onChange={setShown} options={[["form", say("edit.form")], ["yaml", "YAML"]]} /></div>
      </div>
      <div className="making">
        <div>
          {shown === "form" && <FormView form={form} text={make.text} onText={make.setText} errors={errors} />}
          {shown === "yaml" && <FormText form={form} make={make} errors={errors} onSave={create} />}
          <div className="row wrap finish">
            <Action primary label={make.creating ? say("create.busy") : say(form.button, { name })} disabled={blocked} busy={make.creating} onClick={create} />
            <Link className="btn" to="/$kind" params={{ kind: form.list }} search={(before) => ({ ...before, of: undefined })} onClick={make.forget}>{say("action.cancel")}</Link>
            <span className={count > 0 ? "small bad" : "small sub"} role="status">{blocked}</span>
          </div>
        </div>
        <Coming form={form} object={object} make={make} errors={errors} />
      </div>
    </>
  );
}

/** The form as text: what the server has against it stands at its line, and below is what the field at the cursor means. A form of several objects has no schema. */
function FormText({ form, make, errors, onSave }: { form: Form; make: ReturnType<typeof useCreating>; errors: Errors; onSave: () => void }) {
  const say = useSay();
  const [cursor, setCursor] = useState(0);
  const mistakes = useMemo(() => mistakesIn(make.said, errors), [make.said, errors]);
  const field = useMemo(() => pathAt(make.said.doc, cursor), [make.said, cursor]);
  const kind = form.parts ? undefined : kindOf(form.list);
  return (
    <div className="spec">
      <CodeEditor value={make.text} label={say("edit.label", { name: say(form.title) })} mistakes={mistakes} onChange={make.setText} onCursor={setCursor} onSave={onSave} />
      {kind && <FieldHelpLine kind={kind} path={field} />}
    </div>
  );
}

/** What would be created, with what the API server has against it, and the commands that do the same. */
function Coming({ form, object, make, errors }: { form: Form; object: Fields; make: ReturnType<typeof useCreating>; errors: Errors }) {
  const say = useSay();
  const { answer, problem } = make;
  const yaml = (answer && form.parts ? form.parts(answer) : [object]).map((part) => editableText(part)).join("---\n");
  const order: Order = { path: make.path, method: "POST", body: object, kubectl: `kubectl create -f - <<'EOF'\n${yaml}EOF` };
  return (
    <div className="pile coming">
      <div className="row wrap"><h2>{say("create.coming")}</h2><span className="grow" /><span className="dim small">{say("create.checked")}</span></div>
      <ul className="conds">
        {form.creates(object).map((each) => {
          const against = errors.filter((error) => !each.mine || each.mine(error.location ?? ""));
          const wrong = against.length > 0 || (problem !== undefined && errors.length === 0);
          return (
            <li key={each.kind}>
              <span className={wrong ? "st stalled" : answer ? "st ready" : "st"}>{wrong ? <Shape name="stalled" /> : answer ? <Shape name="ready" /> : <span className="todo" />}</span>
              <span>
                {each.kind} <b>{each.namespace && `${each.namespace}/`}{each.name || "?"}</b> <span className="sub">{say(each.about, each.values)}</span>
                {against.map((error, index) => <span key={index} className="small said" lang="en">{error.location && `${error.location}: `}{error.message}</span>)}
              </span>
              <span />
            </li>
          );
        })}
      </ul>
      {problem && errors.length === 0 && (
        <div className="reasonbox stalled flat" role="alert"><Shape name="stalled" /><div><span className="reason">{problem.problem.code}</span><div lang="en">{problem.message}</div></div><span /></div>
      )}
      {make.said.object && (answer || !form.parts) && <DoesTheSame kubectl={order.kubectl} curl={curl(order)} />}
      {form.note && (textAt(object, "nodePool") !== "" || textAt(object, "spec", "nodePool") !== "" || !form.namespaced) && <p className="small sub">{say(form.note, { pool: textAt(object, "nodePool") || textAt(object, "spec", "nodePool") })}</p>}
    </div>
  );
}
