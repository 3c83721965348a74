import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { query, read, Refusal } from "../../api/client";
import { isPassing, useLasting, whilePassing } from "../../api/passing";
import { draftOf, keepDraft } from "../../editor/draft";
import { type Fields } from "../../editor/json";
import { reading, textOf } from "../../editor/text";
import { type Form, namespaceOf } from "../../forms/form";
import { useLink } from "../../live/hooks";
import { useLater } from "../edit/useLater";

/** Who owns what is created here. An app has no manager: the API creates its two parts itself. */
export const manager = "windlass-console-create";

/** Making one object: the text of it, and what the API server says about it 400 ms after the last key. of is what it is made for, if a page has led here. */
export function useCreating(form: Form, namespace: string, of: string | undefined) {
  const key = `create/${form.route}`;
  // What nobody has filled in, neither somebody who types nor the page that has led here, is not tried. What is kept is only what somebody has typed.
  const blank = useMemo(() => textOf(form.initial(namespace)), [form, namespace]);
  const empty = useMemo(() => textOf(form.initial(namespace, of)), [form, namespace, of]);
  const [text, setText] = useState(() => draftOf(key)?.text ?? empty);
  const [begun, setBegun] = useState(empty);
  // Another namespace is for what nobody has filled in yet.
  if (begun !== empty) {
    setBegun(empty);
    if (text === begun) setText(empty);
  }
  const [creating, setCreating] = useState(false);
  const [refused, setRefused] = useState<{ text: string; error: Refusal }>();
  const link = useLink();
  // What was refused for the moment is forgotten with it: nothing is wrong with the text.
  useEffect(() => { if (link === "live") setRefused((before) => (isPassing(before?.error) ? undefined : before)); }, [link]);
  useEffect(() => keepDraft(key, text === empty ? undefined : { text, base: "", uid: "" }), [key, text, empty]);

  const said = useMemo(() => reading(text), [text]);
  const path = useCallback((dry: boolean) => `/v1/${form.route}${query({ dryRun: dry ? "All" : undefined, fieldManager: form.schema ? manager : undefined })}`, [form]);
  const asked = useLater(said);
  const settled = asked === said;
  const tried = useQuery({
    queryKey: ["try", form.route, text], enabled: settled && said.object !== undefined && text !== blank, gcTime: 0, retry: 1, refetchInterval: whilePassing,
    queryFn: ({ signal }) => read<Fields>(path(true), { method: "POST", body: said.object, signal }),
  });
  const error = useLasting(tried, text);
  const failure = error instanceof Refusal ? error : undefined;
  const problem = (refused?.text === text ? refused.error : undefined) ?? (settled ? failure : undefined);

  const create = async (): Promise<Fields | undefined> => {
    setCreating(true);
    setRefused(undefined);
    try {
      const made = await read<Fields>(path(false), { method: "POST", body: said.object });
      keepDraft(key, undefined);
      return made;
    } catch (cause) {
      setRefused({ text, error: cause instanceof Refusal ? cause : new Refusal({ type: "about:blank", code: "Unreadable", title: String(cause), status: 0 }) });
      return undefined;
    } finally {
      setCreating(false);
    }
  };
  const forget = useCallback(() => { keepDraft(key, undefined); setText(empty); }, [key, empty]);
  return {
    text, setText, said, answer: settled ? tried.data : undefined, problem, creating, create, forget, path: path(false), untouched: text === blank,
    trying: text !== blank && said.object !== undefined && (!settled || tried.isFetching), namespace: said.object ? namespaceOf(said.object) : "",
  };
}
