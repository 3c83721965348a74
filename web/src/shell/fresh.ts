/** What somebody has been told of, in the namespace that they looked at. */
export interface Told {
  of: string | undefined;
  keys: ReadonlySet<string>;
}

/** The texts that are new. Nothing is to somebody who has just come to a namespace: what was there when they came is on the page. */
export function freshOf(told: Told | undefined, of: string | undefined, now: ReadonlyMap<string, string>): string[] {
  return told && told.of === of ? [...now].filter(([key]) => !told.keys.has(key)).map(([, text]) => text) : [];
}
