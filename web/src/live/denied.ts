/** Where the caller may not see a kind: in these namespaces, or in all but these. */
interface Denied {
  all: boolean;
  names: ReadonlySet<string>;
}

/** What the caller may not see, by kind. */
export type Denials = ReadonlyMap<string, Denied>;

export function isDenied(denials: Denials, kind: string, namespace: string | undefined): boolean {
  const of = denials.get(kind);
  return of !== undefined && of.all !== (namespace !== undefined && of.names.has(namespace));
}

/** What the caller may not see, or no longer: the objects of a kind in some namespaces more, or all of them. */
export function deny(denials: Denials, kind: string, namespaces: readonly string[] | null): Denials {
  const { all = false, names } = denials.get(kind) ?? {};
  const now = namespaces === null ? { all: true, names: new Set<string>() }
    : all ? { all, names: new Set([...(names ?? [])].filter((name) => !namespaces.includes(name))) }
    : { all, names: new Set([...(names ?? []), ...namespaces]) };
  return new Map(denials).set(kind, now);
}

/** What comes may be seen: in its namespace. Who may see no more than that one is still denied the others. */
export function allow(denials: Denials, kind: string, namespace: string | undefined): Denials {
  const of = denials.get(kind);
  if (!of || !isDenied(denials, kind, namespace)) return denials;
  const names = new Set(of.names);
  if (namespace !== undefined && of.all) names.add(namespace);
  else if (namespace !== undefined) names.delete(namespace);
  const now = new Map(denials);
  if (namespace === undefined || names.size === 0) now.delete(kind);
  else now.set(kind, { all: of.all, names });
  return now;
}
