import { split } from "./filter";

/** Something that the reader may mean, by what they have typed last. */
export interface Suggestion {
  /** What the whole line says with it. */
  line: string;
  /** What is shown, and the key of what it is. */
  text: string;
  about: "filter.isWord" | "filter.isLabel" | "filter.isValue" | "filter.isField";
  /** How many of the objects have it. */
  count: number;
}

const most = 8;
const common = ["metadata.name", "metadata.namespace"];
const more: Readonly<Record<string, readonly string[]>> = {
  pods: ["spec.nodeName", "status.phase", "spec.serviceAccountName"],
  events: ["involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid", "reason", "type"],
};

type Labelled = { metadata: { labels?: Record<string, string> | undefined } };

/** How often each label is there, and each value of one of them. */
function counted(objects: readonly Labelled[], of: (labels: Readonly<Record<string, string>>) => readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { metadata: { labels } } of objects) for (const each of of(labels ?? {})) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The selector in which somebody types: what comes before its last part, and that part. */
function lastOf(selector: string): [before: string, part: string] {
  const comma = selector.lastIndexOf(",") + 1;
  return [selector.slice(0, comma), selector.slice(comma)];
}

/** What can go on from what is typed: labels and their values as the objects have them, fields as the API selects by them. */
export function suggest(typed: string, plural: string, objects: readonly Labelled[]): Suggestion[] {
  const words = split(typed);
  const word = /\s$/.test(typed) ? "" : (words.at(-1) ?? "");
  const before = typed.slice(0, typed.length - word.length);
  const flag = words.at(word === "" ? -1 : -2) ?? "";
  if (flag === "-l" || flag === "--selector") {
    const [head, part] = lastOf(word);
    const equals = part.indexOf("=");
    if (equals < 0) {
      return counted(objects, (labels) => Object.keys(labels)).filter(([key]) => key.includes(part)).slice(0, most)
        .map(([key, count]) => ({ line: `${before}${head}${key}=`, text: `-l ${head}${key}`, about: "filter.isLabel", count }));
    }
    const key = part.slice(0, equals).replace(/!$/, "");
    const value = part.slice(equals + 1).replace(/^=/, "");
    return counted(objects, (labels) => (labels[key] ? [labels[key]] : [])).filter(([each]) => each.startsWith(value) && each !== value).slice(0, most)
      .map(([each, count]) => ({ line: `${before}${head}${part.slice(0, part.length - value.length)}${each}`, text: `-l ${head}${part.slice(0, part.length - value.length)}${each}`, about: "filter.isValue", count }));
  }
  if (flag === "--field-selector") {
    const [head, part] = lastOf(word);
    return [...common, ...(more[plural] ?? [])].filter((field) => !part.includes("=") && field.toLowerCase().includes(part.toLowerCase()))
      .map((field) => ({ line: `${before}${head}${field}=`, text: `--field-selector ${head}${field}`, about: "filter.isField", count: 0 }));
  }
  if (word === "" || word.startsWith("-")) return [];
  const labels = counted(objects, (all) => Object.keys(all)).filter(([key]) => key.toLowerCase().includes(word.toLowerCase())).slice(0, most - 1);
  if (labels.length === 0) return [];
  return [
    { line: typed, text: word, about: "filter.isWord", count: 0 },
    ...labels.map(([key, count]): Suggestion => ({ line: `${before}-l ${key}=`, text: `-l ${key}`, about: "filter.isLabel", count })),
  ];
}
