import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { drawSelection, EditorView, gutter, GutterMarker, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { Mistake } from "./text";

type Marks = ReadonlyMap<number, "added" | "changed">;

/** A mark in the margin of a line that differs from what the server has. */
class Differs extends GutterMarker {
  constructor(how: "added" | "changed") {
    super();
    this.elementClass = `cm-${how}`;
  }
}
const added = new Differs("added");
const changed = new Differs("changed");

const setMarks = StateEffect.define<Marks>();
const marksField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    let out = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { doc } = transaction.state;
      const lines = [...effect.value].filter(([line]) => line <= doc.lines).sort(([one], [other]) => one - other);
      out = RangeSet.of(lines.map(([line, how]) => (how === "added" ? added : changed).range(doc.line(line).from)));
    }
    return out;
  },
});

/** The smallest piece of a text that makes it another one: cursor and selection outside of it stay. */
function difference(old: string, now: string): { from: number; to: number; insert: string } {
  let from = 0;
  while (from < old.length && from < now.length && old[from] === now[from]) from++;
  let tail = 0;
  while (tail < old.length - from && tail < now.length - from && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  return { from, to: old.length - tail, insert: now.slice(from, now.length - tail) };
}

export interface Props {
  value: string;
  label: string;
  readOnly?: boolean;
  marks?: Marks;
  mistakes?: readonly Mistake[];
  onChange: (text: string) => void;
  onCursor: (offset: number) => void;
  onSave: () => void;
}

/** The nonce that lets CodeMirror put its layout into the page; the policy lets nothing else do that. */
function nonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}

/** A text in CodeMirror. It is never overwritten: a new value is put in as a change that can be undone. */
export function CodeEditor({ value, label, readOnly = false, marks, mistakes, onChange, onCursor, onSave }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const writable = useRef(new Compartment());
  const calls = useRef({ onChange, onCursor, onSave });
  calls.current = { onChange, onCursor, onSave };
  const first = useRef({ value, label });

  useEffect(() => {
    if (!place.current) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current.value,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          Prec.highest(keymap.of([{ key: "Mod-s", preventDefault: true, run: () => { calls.current.onSave(); return true; } }])),
          lineNumbers(), marksField, gutter({ class: "cm-marks", markers: (of) => of.state.field(marksField) }), foldGutter(), lintGutter(),
          history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
          yaml(), syntaxHighlighting(classHighlighter), EditorState.tabSize.of(2),
          // Without a tab stop no key leads to a text that can only be read, and axe finds none in one that can be written.
          EditorView.contentAttributes.of({ "aria-label": first.current.label, spellcheck: "false", autocapitalize: "off", tabindex: "0" }),
          writable.current.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) calls.current.onChange(update.state.doc.toString());
            if (update.docChanged || update.selectionSet) calls.current.onCursor(update.state.selection.main.head);
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = undefined;
    };
  }, []);

  useEffect(() => {
    const old = view.current?.state.doc.toString();
    if (old !== undefined && old !== value) view.current?.dispatch({ changes: difference(old, value) });
  }, [value]);
  useEffect(() => view.current?.dispatch({ effects: writable.current.reconfigure([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]) }), [readOnly]);
  useEffect(() => { if (marks) view.current?.dispatch({ effects: setMarks.of(marks) }); }, [marks, value]);
  useEffect(() => {
    const state = view.current?.state;
    if (!state) return;
    const end = state.doc.length;
    const shown = (mistakes ?? []).map(({ from, to, message }): Diagnostic => ({ from: Math.min(from, end), to: Math.min(Math.max(to, from), end), severity: "error", message }));
    view.current?.dispatch(setDiagnostics(state, shown));
  }, [mistakes, value]);

  return <div className="code" ref={place} />;
}
