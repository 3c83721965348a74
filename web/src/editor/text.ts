import { type Document, isMap, isNode, isPair, isScalar, isSeq, parseDocument, stringify } from "yaml";
import { editable, type Fields, isFields, type Json, type Path, touches } from "./json";
import { type Edit, editsOf } from "./patch";

/** Something that is wrong with the text, from and to in characters. */
export interface Mistake {
  from: number;
  to: number;
  message: string;
}

/** What a text says: an object, or what keeps it from being one. */
export interface Reading {
  doc: Document;
  object: Fields | undefined;
  mistakes: readonly Mistake[];
}

/** Readable YAML as kubectl prints it, without folded lines. */
export function textOf(object: Fields): string {
  return stringify(object, { lineWidth: 0, indentSeq: false });
}

/** The object as somebody edits it. */
export function editableText(object: Fields): string {
  return textOf(editable(object));
}

export function reading(text: string): Reading {
  // Names such as __proto__ are names of fields here, and a list of aliases must not fill the memory.
  const doc = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const mistakes = doc.errors.map((error) => ({ from: error.pos[0], to: error.pos[1], message: error.message }));
  if (mistakes.length > 0) return { doc, object: undefined, mistakes };
  const nothing = (message: string): Reading => ({ doc, object: undefined, mistakes: [{ from: 0, to: 0, message }] });
  try {
    const value: unknown = doc.toJS({ maxAliasCount: 100 });
    return isFields(value) ? { doc, object: value, mistakes } : nothing("An object is wanted: apiVersion, kind, metadata and what belongs to the kind.");
  } catch (error) {
    return nothing(error instanceof Error ? error.message : String(error));
  }
}

/** The path at a place of the text: the field that the cursor is in. */
export function pathAt(doc: Document, offset: number): Path {
  const out: (string | number)[] = [];
  let node: unknown = doc.contents;
  for (;;) {
    let next: unknown;
    if (isMap(node)) {
      for (const pair of node.items) {
        if (!isScalar(pair.key) || !pair.key.range || pair.key.range[0] > offset) continue;
        const end = isNode(pair.value) && pair.value.range ? pair.value.range[2] : pair.key.range[2];
        if (offset < end || pair === node.items.at(-1)) {
          out.push(String(pair.key.value));
          next = pair.value;
          break;
        }
      }
    } else if (isSeq(node)) {
      const index = node.items.findLastIndex((item) => isNode(item) && item.range !== undefined && item.range !== null && item.range[0] <= offset + 2);
      if (index >= 0) {
        out.push(index);
        next = node.items[index];
      }
    }
    if (next === undefined || next === null) return out;
    node = next;
  }
}

/** Where a field is in the text, or the nearest of the fields around it: an error names also what is missing. */
export function rangeOf(doc: Document, path: Path): { from: number; to: number } {
  let node: unknown = doc.contents;
  let best = { from: 0, to: 0 };
  for (const step of path) {
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find((each) => isScalar(each.key) && String(each.key.value) === String(step));
      if (!pair || !isPair(pair) || !isScalar(pair.key) || !pair.key.range) return best;
      best = { from: pair.key.range[0], to: isScalar(pair.value) && pair.value.range ? pair.value.range[1] : pair.key.range[1] };
      next = pair.value;
    } else if (isSeq(node)) {
      next = node.items[Number(step)];
      if (isNode(next) && next.range) best = { from: next.range[0], to: isScalar(next) ? next.range[1] : next.range[0] + 1 };
    }
    if (!isNode(next)) return best;
    node = next;
  }
  return best;
}

/** Sets a field in the text and leaves everything else as it is written, with comments. Without a value the field goes. */
export function withField(text: string, path: Path, value: Json | undefined): string {
  const { doc } = reading(text);
  if (doc.errors.length > 0) return text;
  put(doc, path, value);
  return doc.toString({ lineWidth: 0, indentSeq: false });
}

function put(doc: Document, path: Path, value: Json | undefined): void {
  if (value !== undefined) {
    // What is empty, as "spec:" is, becomes an object first.
    for (let length = 1; length < path.length; length++) {
      const there = doc.getIn(path.slice(0, length));
      if (there === null || (there !== undefined && !isNode(there))) doc.deleteIn(path.slice(0, length));
    }
    const old = doc.getIn(path, true);
    if (isScalar(old) && (typeof value !== "object" || value === null)) {
      // The kind of quotes is kept only for what needs it.
      old.value = value;
      delete old.source;
    } else doc.setIn(path, doc.createNode(value));
    return;
  }
  if (doc.hasIn(path)) doc.deleteIn(path);
  for (let length = path.length - 1; length > 1; length--) {
    const around = doc.getIn(path.slice(0, length));
    if ((isMap(around) || isSeq(around)) && around.items.length === 0) doc.deleteIn(path.slice(0, length));
    else return;
  }
}

/** Puts what is typed around what the server has now, which becomes the base. Nothing for a text that cannot be read: it does not tell what was changed. */
export function takenIn(text: string, before: Fields, now: Fields): { text: string; base: Fields } | undefined {
  if (!reading(text).object) return undefined;
  return { text: text === editableText(before) ? editableText(now) : merged(text, before, now).text, base: now };
}

/** A text with what has changed on the server, but for what the reader has changed: that stays as it is typed. */
export function merged(text: string, before: Fields, now: Fields): { text: string; both: readonly Edit[] } {
  const { doc, object } = reading(text);
  if (!object) return { text, both: [] };
  const mine = editsOf(before, object);
  const theirs = editsOf(before, now);
  const apart = theirs.filter((edit) => !mine.some((own) => touches(own.path, edit.path)));
  for (const edit of apart) put(doc, edit.path, edit.after);
  return { text: apart.length === 0 ? text : doc.toString({ lineWidth: 0, indentSeq: false }), both: theirs.filter((edit) => !apart.includes(edit)) };
}
