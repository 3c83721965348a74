/** A figure at a time, in milliseconds. */
export interface Sample {
  time: number;
  value: number;
}

/** Samples further apart than this, in intervals, have nothing drawn between them. */
const torn = 10;

/** The path of a line in a box, from its own left edge; y begins at 0 at the bottom. A line is torn where samples are missing. */
export function sparkPath(samples: readonly Sample[], box: { from: number; until: number; width: number; height: number; top: number; interval: number }): string {
  const { from, until, width, height, top, interval } = box;
  let before: number | undefined;
  let out = "";
  for (const { time, value } of samples) {
    if (time < from || time > until) continue;
    const x = (((time - from) / (until - from)) * width).toFixed(1);
    const y = (height - (Math.min(Math.max(value, 0), top) / top) * height).toFixed(1);
    out += `${before === undefined || time - before > torn * interval ? "M" : "L"}${x} ${y}`;
    before = time;
  }
  return out;
}

/** Times and values as a plot takes them, in seconds: null where the line is torn. */
export function columns(samples: readonly Sample[], interval: number): [number[], (number | null)[]] {
  const times: number[] = [];
  const values: (number | null)[] = [];
  for (const { time, value } of samples) {
    const last = times.at(-1);
    if (last !== undefined && time - last * 1000 > torn * interval) {
      times.push(last + 1);
      values.push(null);
    }
    times.push(time / 1000);
    values.push(value);
  }
  return [times, values];
}

/** The end of the y axis: the limit if all fits under it, or a little above what there is. It is never 0. */
export function topOf(samples: readonly Sample[], limit: number | undefined): number {
  const most = Math.max(0, ...samples.map((sample) => sample.value));
  if (limit !== undefined && most <= limit * 1.05) return limit * 1.05;
  return most > 0 ? most * 1.15 : 1;
}

export function extremes(samples: readonly Sample[]): { min: number; max: number; now: number } | undefined {
  const values = samples.map((sample) => sample.value);
  const now = values.at(-1);
  return now === undefined ? undefined : { min: Math.min(...values), max: Math.max(...values), now };
}
