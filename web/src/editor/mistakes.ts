import { pathOf } from "./path";
import { type Mistake, type Reading, rangeOf } from "./text";

/** What is wrong with a text: what keeps it from being read, and what the server says of its fields, each where the field is. */
export function mistakesIn({ doc, object, mistakes }: Reading, errors: readonly { location?: string; message: string }[]): Mistake[] {
  const said = errors.flatMap(({ location, message }) => (location ? [{ ...rangeOf(doc, pathOf(location, object)), message }] : []));
  return [...mistakes, ...said];
}
