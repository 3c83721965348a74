import { at, isFields, type Json, type Path, same } from "./json";

/** A step of a JSON Patch (RFC 6902). */
export interface Step {
  op: "test" | "add" | "replace" | "remove";
  path: string;
  value?: Json;
}

/** One field that the reader has changed. before and after are missing where the field is not there. */
export interface Edit {
  path: Path;
  before?: Json;
  after?: Json;
}

export function pointer(path: Path): string {
  return path.map((step) => "/" + String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/**
 * What has to change so that before becomes after, as few and as small fields as possible. Lists of the same length are compared item by
 * item; one that is longer or shorter is replaced as a whole, because nobody can tell which item an index means then.
 */
export function editsOf(before: Json, after: Json, path: Path = []): Edit[] {
  if (same(before, after)) return [];
  if (isFields(before) && isFields(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name): Edit[] => {
      const was = Object.hasOwn(before, name) ? before[name] : undefined;
      const is = Object.hasOwn(after, name) ? after[name] : undefined;
      if (was === undefined) return is === undefined ? [] : [{ path: [...path, name], after: is }];
      if (is === undefined) return [{ path: [...path, name], before: was }];
      return editsOf(was, is, [...path, name]);
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => editsOf(item, after[index] ?? null, [...path, index]));
  }
  return [{ path, before, after }];
}

/**
 * The edits as a patch that applies only to what the reader has seen: every field is tested for the value that it had. A field that was
 * not there is null for a test of the API server; to add it alone would replace what somebody else has put there since.
 */
export function patchOf(edits: readonly Edit[]): Step[] {
  return edits.flatMap(({ path, before, after }): Step[] => {
    const where = pointer(path);
    if (before === undefined) return after === undefined ? [] : [{ op: "test", path: where, value: null }, { op: "add", path: where, value: after }];
    const test: Step = { op: "test", path: where, value: before };
    return [test, after === undefined ? { op: "remove", path: where } : { op: "replace", path: where, value: after }];
  });
}

/** The value with the edits made. Those whose place is gone are left out. */
export function edited(value: Json, edits: readonly Edit[]): Json {
  const out = structuredClone(value);
  for (const { path, after } of edits) {
    const last = path.at(-1);
    const around = at(out, path.slice(0, -1));
    if (last === undefined) return after ?? null;
    if (Array.isArray(around) && typeof last === "number" && last < around.length) {
      if (after === undefined) around.splice(last, 1);
      else around[last] = structuredClone(after);
    } else if (isFields(around)) {
      if (after === undefined) Reflect.deleteProperty(around, last);
      else around[last] = structuredClone(after);
    }
  }
  return out;
}
