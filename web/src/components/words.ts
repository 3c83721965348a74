/** A line of the shell as its words and the spaces between them: a word in quotes is one, with its spaces. */
export function wordsOf(line: string): string[] {
  return line.match(/\s+|(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+/g) ?? [];
}
