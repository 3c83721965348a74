import type { Plural } from "../api/types";
import { at, type Fields, isFields, type Path } from "../editor/json";
import type { Key, Values } from "../i18n";

/** How a field is filled in. */
export type Control =
  | { as: "text"; placeholder?: string; placeholderKey?: Key }
  | { as: "number" | "stepper" | "check" | "pool" | "namespace" | "pairs" | "taints" | "area" }
  /** Words, one a line; as arguments of a command. */
  | { as: "lines" }
  | { as: "choice"; options: readonly string[] }
  /** The name of an object of a kind. */
  | { as: "object"; plural: Plural };

export interface Field {
  path: Path;
  label: Key;
  /** A sentence under the field. Without one, the first of the schema stands there. */
  help?: Key;
  control: Control;
  /** Half a line: two of them stand side by side. */
  half?: boolean;
  /** Paths of other objects whose errors belong to this field. */
  also?: readonly string[];
  /** Whether the field is there at all. */
  only?: (object: Fields) => boolean;
  /** It cannot be changed afterwards. */
  fixed?: boolean;
}

/** One object that would be created, with what is to say about it. */
export interface Creation {
  kind: string;
  name: string;
  namespace?: string | undefined;
  about: Key;
  values?: Values;
  /** Whether an error of the server is about this object; without it all are. */
  mine?: (location: string) => boolean;
}

/** How objects of a kind are made: a kind gets a form by a folder with one of these. */
export interface Form {
  /** Where its objects are listed. */
  list: Plural;
  /** The last part of the address of its page, and of the route that takes it. */
  route: string;
  /** The kind whose schema says what the fields are; nothing for what is no kind of Kubernetes. */
  schema?: Plural;
  title: Key;
  about: Key;
  /** What the button says, with {name}. */
  button: Key;
  namespaced: boolean;
  /** What it begins with. of is the name of what it was led to from, where there is such a way. */
  initial: (namespace: string, of?: string) => Fields;
  fields: readonly Field[];
  creates: (object: Fields) => Creation[];
  /** A sentence about what follows from it. */
  note?: Key;
  /** The objects of the answer that kubectl would create; without it the object itself. */
  parts?: (answer: Fields) => Fields[];
}

export function textAt(object: Fields, ...path: Path): string {
  const value = at(object, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export function nameOf(object: Fields): string {
  return textAt(object, "metadata", "name") || textAt(object, "name");
}

export function namespaceOf(object: Fields): string {
  return textAt(object, "metadata", "namespace") || textAt(object, "namespace");
}

/** Where the object is that was made: the API server gives what has a generateName its name. The answer for an app has two objects, with the name of the app. */
export function madeOf(object: Fields, made: Fields): { namespace?: string; name: string } {
  const namespace = namespaceOf(made) || namespaceOf(object);
  return { name: nameOf(made) || nameOf(object), ...(namespace === "" ? {} : { namespace }) };
}

/** The name of an object, which nobody can change afterwards. */
export const nameField: Field = { path: ["metadata", "name"], label: "form.name", control: { as: "text" }, half: true, fixed: true };
export const namespaceField: Field = { path: ["metadata", "namespace"], label: "ns.label", control: { as: "namespace" }, half: true, fixed: true };

export function counted(object: Fields, ...path: Path): number {
  const value = at(object, path);
  return Array.isArray(value) ? value.length : isFields(value) ? Object.keys(value).length : 0;
}
