import { type Fields, isFields, type Json } from "../editor/json";

/** A value as somebody types it. */
export function shown(value: Json | undefined): string {
  return value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Words, one a line. */
export function words(text: string): Json[] | undefined {
  const out = text.split("\n").filter((line) => line !== "");
  return out.length === 0 ? undefined : out;
}

/** One key=value a line. */
export function pairs(text: string): Fields | undefined {
  const out: Fields = {};
  for (const line of text.split("\n").map((each) => each.trim()).filter((each) => each !== "")) {
    const [key = "", ...rest] = line.split("=");
    out[key] = rest.join("=");
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

/** Taints as kubectl writes them: key=value:Effect. */
export function taints(text: string): Json[] | undefined {
  const out = text.split("\n").map((each) => each.trim()).filter((each) => each !== "").map((line): Json => {
    const [of = "", effect = ""] = line.split(":");
    const [key = "", value = ""] = of.split("=");
    return { key, ...(value === "" ? {} : { value }), effect };
  });
  return out.length === 0 ? undefined : out;
}

export function taintText(taint: Json): string {
  if (!isFields(taint)) return "";
  return `${shown(taint["key"])}${taint["value"] === undefined || taint["value"] === "" ? "" : `=${shown(taint["value"])}`}:${shown(taint["effect"])}`;
}
