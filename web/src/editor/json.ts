export type Json = null | boolean | number | string | Json[] | Fields;
export interface Fields { [name: string]: Json }
/** Where a value is in an object: names of fields and indices of items. */
export type Path = readonly (string | number)[];

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function at(value: Json | undefined, path: Path): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(here)) here = typeof step === "number" ? here[step] : undefined;
    else if (isFields(here)) here = Object.hasOwn(here, step) ? here[step] : undefined;
    else return undefined;
  }
  return here;
}

export function same(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, index) => same(item, other[index]));
  if (!isFields(one) || !isFields(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

export function begins(path: Path, prefix: Path): boolean {
  return prefix.every((step, index) => path[index] === step);
}

/** Whether what is at one path is part of what is at the other. */
export function touches(one: Path, other: Path): boolean {
  return begins(one, other) || begins(other, one);
}

/** A path as kubectl explain takes it, and as people say it. */
export function spoken(path: Path): string {
  return path.reduce<string>((text, step) => (typeof step === "number" ? `${text}[${step}]` : /^[\w-]+$/.test(step) ? `${text}${text && "."}${step}` : `${text}["${step}"]`), "");
}

/** What the API server keeps for itself: nobody edits it. */
const kept = ["uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"];

/** An object without what the API server and controllers fill in. */
export function editable(object: Fields): Fields {
  const { metadata, ...rest } = object;
  Reflect.deleteProperty(rest, "status");
  const first: Fields = {};
  for (const name of ["apiVersion", "kind"]) if (rest[name] !== undefined) first[name] = rest[name];
  const named = isFields(metadata) ? metadata : {};
  const ours: Fields = {};
  for (const name of ["name", "namespace", ...Object.keys(named).sort()]) if (!kept.includes(name) && named[name] !== undefined) ours[name] = named[name];
  return { ...first, metadata: ours, ...rest };
}

/** Which object it is: a later one of the same name is another. */
export function uidOf(object: Fields): string {
  const uid = at(object, ["metadata", "uid"]);
  return typeof uid === "string" ? uid : "";
}
