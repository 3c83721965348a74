import { type Fields, isFields, type Json, type Path, same } from "./json";

/** The items of a list that a key selects, as in [name="web"], or its index. */
function itemOf(list: Json | undefined, key: string): number | undefined {
  if (/^\d+$/.test(key)) return Number(key);
  if (!Array.isArray(list)) return undefined;
  const value = (text: string): Json | undefined => {
    try {
      const read: Json = JSON.parse(text);
      return read;
    } catch {
      return undefined;
    }
  };
  if (key.startsWith("=")) {
    const wanted = value(key.slice(1));
    return found(list.findIndex((item) => same(item, wanted)));
  }
  const wanted: Fields = {};
  for (const [, name, text] of key.matchAll(/(?:^|,)([\w./-]+)=("(?:[^"\\]|\\.)*"|[^,]*)/g)) {
    const read = value(text ?? "");
    if (name !== undefined && read !== undefined) wanted[name] = read;
  }
  return found(list.findIndex((item) => isFields(item) && Object.entries(wanted).every(([name, want]) => same(item[name], want))));
}

function found(index: number): number | undefined {
  return index < 0 ? undefined : index;
}

/**
 * Reads a path as the API server writes it: .spec.containers[name="web"].image of owners, or spec.containers[0].image and
 * metadata.labels[a.b/c] of errors. It follows the object as far as that goes, so that a name with dots is found.
 */
export function pathOf(text: string, object: Json | undefined): Path {
  const out: (string | number)[] = [];
  let rest = text.replace(/^body\.?/, "").replace(/^\./, "");
  let here = object;
  while (rest !== "") {
    const key = /^\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]\.?/.exec(rest);
    if (key) {
      const inner = key[1] ?? "";
      const step = isFields(here) ? inner.replace(/^"(.*)"$/, "$1") : itemOf(here, inner);
      if (step === undefined) return out;
      out.push(step);
      here = isFields(here) ? here[step] : Array.isArray(here) && typeof step === "number" ? here[step] : undefined;
      rest = rest.slice(key[0].length);
      continue;
    }
    const names: string[] = isFields(here) ? Object.keys(here).filter((name) => rest === name || rest.startsWith(name + ".") || rest.startsWith(name + "[")) : [];
    const name = names.sort((one, other) => other.length - one.length)[0] ?? /^[^.[]+/.exec(rest)?.[0];
    if (name === undefined) return out;
    // The API names items of a list by their index after a dot as well.
    const step = Array.isArray(here) && /^\d+$/.test(name) ? Number(name) : name;
    out.push(step);
    here = isFields(here) ? here[step] : Array.isArray(here) && typeof step === "number" ? here[step] : undefined;
    rest = rest.slice(name.length).replace(/^\./, "");
  }
  return out;
}
