import { isFields, type Json, type Path } from "./json";

/** What the schema of the server says about a field. */
export interface FieldHelp {
  /** Types, as "string" or "list of objects". */
  types: readonly string[];
  required: boolean;
  description: string;
  values: readonly string[];
  /** Names of the fields in it. */
  fields: readonly string[];
  fallback: Json | undefined;
}

type Schema = { [name: string]: unknown };

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Follows references, and keeps the description that stands beside one. */
function resolved(root: Schema, of: unknown): Schema | undefined {
  let here = of;
  let about: unknown;
  for (let hop = 0; hop < 16 && isSchema(here); hop++) {
    about ??= here["description"];
    const all = here["allOf"];
    const ref = here["$ref"] ?? (Array.isArray(all) && isSchema(all[0]) ? all[0]["$ref"] : undefined);
    if (typeof ref !== "string") return about === undefined ? here : { ...here, description: about };
    here = ref.replace(/^#\/?/, "").split("/").reduce<unknown>((within, name) => (isSchema(within) ? within[name] : undefined), root);
  }
  return isSchema(here) ? here : undefined;
}

function typesOf(root: Schema, schema: Schema): string[] {
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(choices)) return [...new Set(choices.flatMap((each) => typesOf(root, resolved(root, each) ?? {})))];
  const type = schema["type"];
  if (type === "array") return [`${typesOf(root, resolved(root, schema["items"]) ?? {}).join(" or ")}[]`];
  if (Array.isArray(type)) return type.map(String);
  return typeof type === "string" ? [type] : isSchema(schema["properties"]) ? ["object"] : [];
}

/** Looks a field up. The schema is the document that the API has for the kind. */
export function helpFor(root: unknown, path: Path): FieldHelp | undefined {
  if (!isSchema(root)) return undefined;
  let schema = resolved(root, root);
  let required = false;
  for (const step of path) {
    if (!schema) return undefined;
    const properties = schema["properties"];
    const asked: unknown = schema["required"];
    required = Array.isArray(asked) && asked.includes(step);
    if (typeof step === "number") schema = resolved(root, schema["items"]);
    else if (isSchema(properties) && Object.hasOwn(properties, step)) schema = resolved(root, properties[step]);
    else schema = resolved(root, schema["additionalProperties"]);
  }
  if (!schema) return undefined;
  const { description, properties } = schema;
  const values: unknown = schema["enum"];
  const fallback: unknown = schema["default"];
  return {
    types: typesOf(root, schema), required, description: typeof description === "string" ? description : "",
    values: Array.isArray(values) ? values.map(String) : [], fields: isSchema(properties) ? Object.keys(properties) : [],
    fallback: fallback === null || ["string", "number", "boolean"].includes(typeof fallback) ? (fallback as Json | undefined) : isFields(fallback) || Array.isArray(fallback) ? fallback : undefined,
  };
}
