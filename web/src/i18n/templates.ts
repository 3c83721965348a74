/** Finds the translation of a sentence in a table whose sentences can have {names}: what stands there in the sentence stands in its translation. */
export function translations(table: Readonly<Record<string, string>>): (text: string) => string | undefined {
  const whole = new Map(Object.entries(table));
  const open = Object.keys(table).filter((text) => text.includes("{")).map((text) => ({
    text, like: new RegExp(`^${text.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+)")}$`),
  }));
  return (text) => {
    const found = whole.get(text);
    if (found !== undefined) return found;
    for (const each of open) {
      const match = each.like.exec(text);
      if (match) return whole.get(each.text)?.replace(/\{(\w+)\}/g, (name: string, key: string) => match.groups?.[key] ?? name);
    }
    return undefined;
  };
}
