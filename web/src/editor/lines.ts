/** A line of a difference: of both texts, of the one before, or of the one after. */
export interface Line {
  mark: " " | "+" | "-";
  text: string;
  /** Number of the line in the text after, from 1; for a removed line that of the line before which it stood. */
  at: number;
}

/** Above this many pairs of lines, what differs is shown as one piece: a comparison must not take a second. */
const most = 4_000_000;

/** The lines of two texts, with the longest common lines found. Texts of equal beginning and end cost next to nothing. */
export function linesOf(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const out: Line[] = now.slice(0, head).map((text, index) => ({ mark: " ", text, at: index + 1 }));
  out.push(...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail), head));
  const from = now.length - tail;
  out.push(...now.slice(from).map((text, index): Line => ({ mark: " ", text, at: from + index + 1 })));
  return out;
}

function middle(old: string[], now: string[], offset: number): Line[] {
  const gone = (text: string, at: number): Line => ({ mark: "-", text, at: offset + at + 1 });
  const come = (text: string, at: number): Line => ({ mark: "+", text, at: offset + at + 1 });
  if (old.length * now.length > most) return [...old.map((text) => gone(text, 0)), ...now.map(come)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const score = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      common[row * width + column] = old[row] === now[column] ? score(row + 1, column + 1) + 1 : Math.max(score(row + 1, column), score(row, column + 1));
    }
  }
  const out: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [was, is] = [old[row], now[column]];
    if (was !== undefined && was === is) {
      out.push({ mark: " ", text: was, at: offset + column + 1 });
      row++;
      column++;
    } else if (was !== undefined && (is === undefined || score(row + 1, column) >= score(row, column + 1))) {
      out.push(gone(was, column));
      row++;
    } else if (is !== undefined) {
      out.push(come(is, column));
      column++;
    }
  }
  return out;
}

/** Which lines of the text after are new, and which have taken the place of others: marks in the margin. */
export function marksOf(lines: readonly Line[]): Map<number, "added" | "changed"> {
  const out = new Map<number, "added" | "changed">();
  let replaced = 0;
  for (const line of lines) {
    if (line.mark === "-") replaced++;
    else if (line.mark === "+") out.set(line.at, replaced-- > 0 ? "changed" : "added");
    else replaced = 0;
  }
  return out;
}

/** A piece of a difference with the lines around it, under the names of the fields that it is in. */
export interface Hunk {
  within: string;
  lines: readonly Line[];
}

function depth(text: string): number {
  return /^[ -]*/.exec(text)?.[0].length ?? 0;
}

/** The names of the fields around a line, from its indentation. */
function within(lines: readonly Line[], index: number): string {
  const out: string[] = [];
  let limit = depth(lines[index]?.text ?? "");
  for (let above = index - 1; above >= 0 && limit > 0; above--) {
    const text = lines[above]?.text ?? "";
    const name = /^([ -]*)("?)([^\s#"][^:"]*)\2:/.exec(text);
    if (name && depth(text) < limit && lines[above]?.mark !== "-") {
      out.unshift(name[3] ?? "");
      limit = depth(text);
    }
  }
  return out.join(".");
}

/** What differs, with so many lines around it. */
export function hunksOf(lines: readonly Line[], around = 1): Hunk[] {
  const shown = new Set<number>();
  lines.forEach((line, index) => {
    if (line.mark !== " ") for (let near = Math.max(0, index - around); near <= Math.min(lines.length - 1, index + around); near++) shown.add(near);
  });
  const out: { within: string; lines: Line[] }[] = [];
  let last = -2;
  for (const index of [...shown].sort((one, other) => one - other)) {
    const line = lines[index];
    if (!line || (line.mark === " " && line.text === "")) continue;
    if (index !== last + 1) out.push({ within: within(lines, index), lines: [] });
    out.at(-1)?.lines.push(line);
    last = index;
  }
  return out;
}
