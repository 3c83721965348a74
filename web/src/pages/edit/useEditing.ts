import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { objectPath, query, read, Refusal } from "../../api/client";
import { isPassing, useLasting, whilePassing } from "../../api/passing";
import type { KubeObject, Schemas } from "../../api/types";
import { type Choice, type Conflict, conflictsOf, without } from "../../editor/conflicts";
import { draftOf, keepDraft } from "../../editor/draft";
import { editable, type Fields, type Path, spoken, uidOf } from "../../editor/json";
import { type Edit, editsOf, patchOf } from "../../editor/patch";
import { editableText, reading, takenIn } from "../../editor/text";
import type { Kind } from "../../kinds/registry";
import { useLink } from "../../live/hooks";
import { useLater } from "./useLater";

/** Who owns what is saved here. */
export const manager = "windlass-console-editor";
type Difference = Schemas["Difference"];

/** What somebody has typed, against which object: both are kept until it is saved. */
interface State {
  text: string;
  base: Fields;
  uid: string;
}

function begun(object: Fields): State {
  return { text: editableText(object), base: editable(object), uid: uidOf(object) };
}

/** What is kept is there again, also where another object has the name by now: the reader decides what becomes of it. */
function stateOf(key: string, object: Fields): State {
  const kept = draftOf(key);
  const base = kept && reading(kept.base).object;
  return kept && base ? { text: kept.text, base, uid: kept.uid } : begun(object);
}

/** The names of two paths that are the same field. */
function choiceOf(choices: ReadonlyMap<string, Choice>, path: Path): Choice | undefined {
  return choices.get(spoken(path));
}

/** Editing one object: what is typed, what that changes, what the server says about it, and what others have done meanwhile. */
export function useEditing(kind: Kind, first: KubeObject & Fields) {
  const { namespace, name = "" } = first.metadata;
  const path = `/v1${objectPath(kind.plural, namespace, name)}`;
  const key = `${kind.plural}/${namespace ?? ""}/${name}`;
  const client = useQueryClient();
  const [state, setState] = useState(() => stateOf(key, first));
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [met, setMet] = useState<readonly Conflict[]>([]);
  const [saving, setSaving] = useState(false);
  const [refused, setRefused] = useState<Refusal>();
  const link = useLink();
  // What was refused for the moment is forgotten with it: nothing is wrong with the text.
  useEffect(() => { if (link === "live") setRefused((before) => (isPassing(before) ? undefined : before)); }, [link]);
  const latest = useRef(state);
  latest.current = state;

  const { text, base, uid } = state;
  const said = useMemo(() => reading(text), [text]);
  const edits = useMemo(() => (said.object ? editsOf(base, said.object) : []), [base, said]);
  const pristine = edits.length === 0 && text === editableText(base);
  useEffect(() => keepDraft(key, pristine ? undefined : { text, base: editableText(base), uid }), [key, pristine, text, base, uid]);

  const left = useMemo(() => met.filter(({ edit }) => choiceOf(choices, edit.path) === "leave").map(({ edit }) => edit.path), [met, choices]);
  const sent = useMemo(() => without(edits, left), [edits, left]);
  // By what they say: the same edits, computed anew, are nothing to ask about again.
  const words = JSON.stringify(sent);
  const later = useLater(words);
  const settled = later === words;
  const asked = useMemo(() => JSON.parse(later) as Edit[], [later]);
  const parameters = query({ uid, fieldManager: manager });
  const tried = useQuery({
    queryKey: ["diff", path, uid, asked], enabled: asked.length > 0 && settled, retry: 1, gcTime: 0, refetchInterval: whilePassing,
    queryFn: ({ signal }) => read<Difference>(`${path}/diff${parameters}`, { method: "PATCH", body: patchOf(asked), type: "application/json-patch+json", signal }),
  });
  const error = useLasting(tried, `${uid} ${later}`);
  const difference = asked.length > 0 && settled ? tried.data : undefined;
  useEffect(() => {
    if (!difference) return;
    const found = conflictsOf(asked, difference.changes, difference.before as Fields | undefined);
    setMet((before) => [...found, ...before.filter(({ edit }) => !asked.some((each) => spoken(each.path) === spoken(edit.path)))]);
  }, [difference, asked]);

  const conflicts = useMemo(() => met.filter(({ edit }) => edits.some((each) => spoken(each.path) === spoken(edit.path))), [met, edits]);
  const open = conflicts.filter(({ edit }) => choiceOf(choices, edit.path) === undefined);
  const problem = refused ?? (asked.length > 0 && settled && error instanceof Refusal ? error : undefined);

  const setText = useCallback((now: string) => {
    setRefused(undefined);
    setState((before) => (before.text === now ? before : { ...before, text: now }));
  }, []);
  /** Takes over what the server has, around what is typed, which has to be readable. */
  const adopt = useCallback((object: Fields) => {
    setRefused(undefined);
    setState((before) => {
      const taken = takenIn(before.text, before.base, editable(object));
      return taken ? { ...taken, uid: uidOf(object) } : before;
    });
  }, []);
  const discard = useCallback((object: Fields) => {
    setRefused(undefined);
    setState(begun(object));
    setChoices(new Map());
    setMet([]);
  }, []);

  /** Sends the changes. The text stays as it is; what has become of the object is put around it. */
  const save = async (): Promise<Fields | undefined> => {
    const typed = said.object;
    if (!typed) return undefined;
    setSaving(true);
    setRefused(undefined);
    try {
      const after = await read<Fields>(path + parameters, { method: "PATCH", body: patchOf(sent), type: "application/json-patch+json" });
      // What the server filled in, and what was left to others, goes around what was typed since.
      const taken = takenIn(latest.current.text, typed, editable(after));
      const next = taken ? { ...taken, uid } : latest.current;
      // Whoever left the page meanwhile must not find what is saved as a draft: nothing is rendered any more that would forget it.
      if (draftOf(key)?.text === latest.current.text) keepDraft(key, next.text === editableText(next.base) ? undefined : { text: next.text, base: editableText(next.base), uid });
      setState(next);
      setChoices(new Map());
      setMet([]);
      void client.invalidateQueries({ queryKey: ["why"] });
      return after;
    } catch (cause) {
      setRefused(cause instanceof Refusal ? cause : new Refusal({ type: "about:blank", code: "Unreadable", title: String(cause), status: 0 }));
      return undefined;
    } finally {
      setSaving(false);
    }
  };
  const choose = useCallback((of: Conflict, choice: Choice) => setChoices((before) => new Map(before).set(spoken(of.edit.path), choice)), []);

  return {
    key, path, parameters, text, base, uid, said, edits, sent, pristine, difference, conflicts, open, choices, problem, saving, setText, adopt, discard, save, choose,
    trying: asked.length > 0 && (!settled || tried.isFetching || isPassing(tried.error)), triedAt: tried.dataUpdatedAt,
  };
}

export type Editing = ReturnType<typeof useEditing>;
