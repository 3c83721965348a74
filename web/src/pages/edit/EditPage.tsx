import { useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { objectPath, query, read, text as readText } from "../../api/client";
import { isPassing } from "../../api/passing";
import type { KubeObject } from "../../api/types";
import { Failure, Nothing, Segments, Skeleton } from "../../components/parts";
import { tell } from "../../components/toasts";
import { useSaveKey } from "../../components/useSaveKey";
import { CodeEditor } from "../../editor/CodeEditor";
import { editable, type Fields, same, uidOf } from "../../editor/json";
import { linesOf, marksOf } from "../../editor/lines";
import { mistakesIn } from "../../editor/mistakes";
import { editableText, pathAt } from "../../editor/text";
import { FormView } from "../../forms/FormView";
import { formOf } from "../../forms/registry";
import { useLanguage } from "../../i18n";
import { type Kind, rehearsed, writable } from "../../kinds/registry";
import { useObject } from "../../live/hooks";
import { useCut } from "../../live/useCut";
import { may, useRights } from "../../shell/session";
import { clock } from "../../status/age";
import { StatusMark } from "../../status/shapes";
import { statusOf, withoutStatus } from "../../status/status";
import { ChangeButton } from "../object/pool/ChangeButton";
import { Changed } from "./Changed";
import { EditFoot } from "./EditFoot";
import { FieldHelpLine } from "./FieldHelpLine";
import { Outcome } from "./Outcome";
import { useEditing } from "./useEditing";

type Whole = KubeObject & Fields;

/** When an object went that was there, and whether only the right to see it did. */
interface Left {
  gone: string | undefined;
  denied: boolean;
}

/** The YAML of an object, to read and to change. */
export function EditPage({ kind, namespace, name, left }: { kind: Kind; namespace: string | undefined; name: string; left: Left }) {
  const path = `/v1${objectPath(kind.plural, namespace, name)}`;
  const first = useQuery({ queryKey: ["edit", path], queryFn: ({ signal }) => read<Whole>(`${path}?consistent=true`, { signal }), staleTime: Infinity, gcTime: 0 });
  // An object that is asked for again while somebody types must not take the editor away.
  if (first.data) return <Editor key={first.data.metadata.uid} kind={kind} first={first.data} left={left} />;
  return first.error ? <Failure error={first.error} again={() => void first.refetch()} /> : <Skeleton rows={12} />;
}

function Editor({ kind, first, left }: { kind: Kind; first: Whole; left: Left }) {
  const { say, language } = useLanguage();
  const navigate = useNavigate();
  const cut = useCut(kind.plural);
  const { namespace, name = "" } = first.metadata;
  const edit = useEditing(kind, first);
  const rights = useRights(namespace);
  const live: KubeObject | undefined = useObject(kind.plural, namespace, name);
  const server = useServer(edit.path, first, live);
  const [cursor, setCursor] = useState(0);
  const [shown, setShown] = useState<"yaml" | "form" | "all">("yaml");
  // What a pool would do is rehearsed before it does it: saved from here, a taint could delete pods that nobody has counted.
  const rehearses = rehearsed.includes(kind.plural);
  const form = rehearses ? undefined : formOf(kind.plural);
  const allowed = may(rights, kind.plural, namespace, "patch");
  const readOnly = !writable.includes(kind.plural) || rehearses || !allowed;

  const marks = useMemo(() => marksOf(linesOf(editableText(edit.base), edit.text)), [edit.base, edit.text]);
  const mistakes = useMemo(() => mistakesIn(edit.said, edit.problem?.problem.errors ?? []), [edit.said, edit.problem]);
  const field = useMemo(() => pathAt(edit.said.doc, cursor), [edit.said, cursor]);
  const replaced = uidOf(server.object) !== edit.uid;
  const moved = replaced || !same(editable(server.object), edit.base);
  useEffect(() => { if (moved && edit.pristine) edit.adopt(server.object); }, [moved, edit, server.object]);

  const unreadable = edit.said.mistakes.length > 0 ? say("edit.mistakes", { count: edit.said.mistakes.length }) : undefined;
  const blocked = rehearses ? say("edit.rehearsed")
    : readOnly ? say(allowed ? "edit.readOnly" : "action.refused", { verb: "patch", kind: say(`kind.${kind.plural}`) })
    : cut ? cut
    : replaced ? say("edit.replaced")
    : unreadable ? unreadable
    : edit.problem && !isPassing(edit.problem) ? say("edit.refused")
    : edit.open.length > 0 ? say("edit.undecided", { count: edit.open.length })
    : edit.sent.length === 0 ? say("edit.nothing")
    : edit.trying ? say("edit.trying") : undefined;
  const { save, saving } = edit;
  const store = useCallback(() => {
    if (blocked !== undefined || saving) return; // sent twice, it would be refused the second time
    void save().then((after) => { if (after) { server.put(after); tell(say("edit.saved", { name })); } });
  }, [blocked, saving, save, server, say, name]);
  useSaveKey(store);
  const leave = () => {
    edit.discard(server.object);
    void navigate({ to: ".", search: (before) => ({ ...before, tab: undefined }) });
  };

  return (
    <div className="edit">
      <div className="top">
        <h1 className="objname"><span className="kind">{kind.kind}</span> {namespace && <span className="ns">{namespace}/</span>}{name}</h1>
        {live && !(kind.plural in withoutStatus) && <StatusMark status={statusOf(kind.plural, live)} />}
        <span className="grow" />
        <Segments label={say("edit.view")} value={shown} onChange={setShown} options={[["yaml", "YAML"], ...(form ? [["form", say("edit.form")] as const] : []), ["all", say("edit.all")]]} />
      </div>
      <div className="l">
        {shown === "all" && <Everything path={edit.path} />}
        {shown === "form" && form && <div className="scroll"><FormView form={form} text={edit.text} onText={edit.setText} errors={edit.problem?.problem.errors ?? []} existing /></div>}
        {shown === "yaml" && (
          <>
            <CodeEditor value={edit.text} label={say("edit.label", { name })} readOnly={readOnly} marks={marks} mistakes={mistakes} onChange={edit.setText} onCursor={setCursor} onSave={store} />
            <FieldHelpLine kind={kind} path={field} />
          </>
        )}
      </div>
      <div className="r">
        {moved && !edit.pristine && <Changed replaced={replaced} since={clock(server.since, language, Date.now())} before={edit.base} now={server.object} hindered={unreadable} onAdopt={() => edit.adopt(server.object)} />}
        {left.gone !== undefined && <div className="banner warn" role="status">{say(left.denied ? "object.denied" : "object.deleted", { time: clock(left.gone, language, Date.now()) })}</div>}
        {rehearses ? <Nothing>{say("edit.rehearsedSub")}</Nothing> : <Outcome kind={kind} edit={edit} target={first.metadata} />}
      </div>
      <EditFoot edit={edit} blocked={blocked} mistakes={mistakes} instead={rehearses && <ChangeButton kind={kind} name={name} />} onSave={store} onCancel={leave} />
    </div>
  );
}

/** The newest that the server has: asked for again when the stream says that the object is another one. */
function useServer(path: string, first: Whole, live: KubeObject | undefined) {
  const [state, setState] = useState<{ object: Fields; since: string }>({ object: first, since: "" });
  const seen = useMemo(() => JSON.stringify(live === undefined ? null : [live.metadata.uid, editable(JSON.parse(JSON.stringify(live)))]), [live]);
  const newest = useQuery({ queryKey: ["edited", path, seen], queryFn: ({ signal }) => read<Whole>(`${path}?consistent=true`, { signal }), enabled: live !== undefined, gcTime: 0, staleTime: Infinity });
  const put = useCallback((object: Fields) => setState({ object, since: new Date().toISOString() }), []);
  useEffect(() => {
    if (newest.data) setState((before) => (uidOf(before.object) === uidOf(newest.data) && same(editable(before.object), editable(newest.data)) ? before : { object: newest.data, since: new Date().toISOString() }));
  }, [newest.data]);
  return { ...state, put };
}

function Everything({ path }: { path: string }) {
  const { say } = useLanguage();
  const yaml = useQuery({ queryKey: ["yaml", path], queryFn: ({ signal }) => readText(`${path}/yaml${query({ managedFields: true })}`, signal) });
  if (yaml.error) return <Failure error={yaml.error} again={() => void yaml.refetch()} />;
  if (!yaml.data) return <Skeleton rows={12} />;
  return <CodeEditor value={yaml.data} label={say("edit.all")} readOnly onChange={() => undefined} onCursor={() => undefined} onSave={() => undefined} />;
}
