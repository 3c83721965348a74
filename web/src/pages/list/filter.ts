/** What a filter field says: words, a label selector and a field selector, as one would type them for kubectl. */
export interface Filter {
  words: string;
  labels: string;
  fields: string;
}

/** Words of a line: quotes hold together what has spaces. */
export function split(line: string): string[] {
  const out: string[] = [];
  let word = "";
  let quote = "";
  let depth = 0;
  for (const letter of line) {
    if (quote !== "") {
      if (letter === quote) quote = "";
      else word += letter;
    } else if (letter === "'" || letter === '"') {
      quote = letter;
    } else if (/\s/.test(letter) && depth === 0) {
      if (word !== "") out.push(word);
      word = "";
    } else {
      if (letter === "(") depth++;
      if (letter === ")") depth = Math.max(0, depth - 1);
      word += letter;
    }
  }
  if (word !== "") out.push(word);
  return out;
}

const flags: Record<string, "labels" | "fields"> = { "-l": "labels", "--selector": "labels", "--field-selector": "fields" };

/** Reads a filter. Every line is one: what is no flag is a word, and a flag without a value is left out until it has one. */
export function parse(line: string): Filter {
  const found: Record<"words" | "labels" | "fields", string[]> = { words: [], labels: [], fields: [] };
  const parts = split(line);
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const equals = part.indexOf("=");
    const name = part.startsWith("--") && equals > 0 ? part.slice(0, equals) : part;
    const kind = flags[name];
    if (kind === undefined) {
      found.words.push(part);
      continue;
    }
    let value = name === part ? (parts[++at] ?? "") : part.slice(equals + 1);
    // "zone in (a, b)" is one selector although it has spaces.
    while (kind === "labels" && (parts[at + 1] === "in" || parts[at + 1] === "notin") && parts[at + 2]?.startsWith("(") === true) {
      value += ` ${parts[at + 1] ?? ""} ${parts[at + 2] ?? ""}`;
      at += 2;
    }
    if (value !== "") found[kind].push(value);
  }
  return { words: found.words.join(" "), labels: found.labels.join(","), fields: found.fields.join(",") };
}

/** Two filters as one, as when a new token joins those that are there. What both require is there once. */
export function joined(a: Filter, b: Filter): Filter {
  const both = (first: string, second: string) => [...new Set([...requirements(first), ...requirements(second)])].join(",");
  return { words: [...new Set([a.words, b.words].filter(Boolean))].join(" "), labels: both(a.labels, b.labels), fields: both(a.fields, b.fields) };
}

/** What Enter makes of a line: its selectors join those that are there, and its words stay. A line without selectors stays as it is typed. */
export function entered(value: Filter, line: string): { filter: Filter; left: string } {
  const read = parse(line);
  return { filter: joined({ ...value, words: "" }, read), left: read.labels + read.fields === "" ? line : read.words };
}

/** The requirements of a selector: a comma within brackets separates values. */
export function requirements(selector: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= selector.length; at++) {
    const letter = selector[at];
    if (letter === "(") depth++;
    if (letter === ")") depth = Math.max(0, depth - 1);
    if (at === selector.length || (letter === "," && depth === 0)) {
      const one = selector.slice(from, at).trim();
      if (one !== "") out.push(one);
      from = at + 1;
    }
  }
  return out;
}

export interface Token {
  flag: "-l" | "--field-selector";
  value: string;
}

export function tokensOf(filter: Filter): Token[] {
  return [
    ...requirements(filter.labels).map((value) => ({ flag: "-l", value }) as const),
    ...requirements(filter.fields).map((value) => ({ flag: "--field-selector", value }) as const),
  ];
}

/** A filter without one of its tokens. */
export function without(filter: Filter, token: Token): Filter {
  const left = (selector: string) => requirements(selector).filter((each) => each !== token.value).join(",");
  return token.flag === "-l" ? { ...filter, labels: left(filter.labels) } : { ...filter, fields: left(filter.fields) };
}
