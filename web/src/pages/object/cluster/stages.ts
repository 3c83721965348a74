/** What a tool has said that it does, and when it said so, in milliseconds. */
export interface Said {
  time: number;
  text: string;
}

/** One stage of a run: until the next one begins, or the run ends. */
export interface Stage {
  name: string;
  from: number;
  until: number;
}

/** The forms in which tools say when they say something: seconds since they began, or a time. */
const forms: readonly { form: RegExp; time: (word: string, start: number) => number }[] = [
  { form: /^(?:INFO|WARN)\[(\d+)\]\s+(.*)$/, time: (word, start) => start + Number(word) * 1000 },
  { form: /^\s*(\d+\.\d+)s\s+(.*)$/, time: (word, start) => start + Number(word) * 1000 },
  { form: /^time="([^"]+)" level=(?:info|warning) msg="?(.*?)"?$/, time: (word) => Date.parse(word) },
];

/** What the lines of a log say, as far as they say when. */
export function saidIn(lines: readonly string[], start: number): Said[] {
  return lines.flatMap((line) => {
    for (const { form, time } of forms) {
      const match = form.exec(line);
      if (!match) continue;
      const at = time(match[1] ?? "", start);
      return Number.isNaN(at) ? [] : [{ time: at, text: (match[2] ?? "").trim() }];
    }
    return [];
  });
}

/** The name of a stage: what stands in brackets before the words, as in "[etcd] Building up etcd plane", or all of them. */
export function stageName(text: string): string {
  return /^\[([^\]]+)\]/.exec(text)?.[1] ?? text.replace(/[.\s]+$/, "");
}

/** Whether something was said before a run ended. Its end is known to the second, in which much can be said. */
export function isWithin(time: number, end: number): boolean {
  return time < end + 1000;
}

/** The stages of a run in the order in which they began. What a tool says again while it is at it is the same stage. */
export function stagesOf(said: readonly Said[], start: number, end: number): Stage[] {
  const out: Stage[] = [];
  for (const { time, text } of [...said].sort((a, b) => a.time - b.time)) {
    if (text === "" || !isWithin(time, end)) continue;
    const from = Math.min(Math.max(time, start), end);
    const name = stageName(text);
    const last = out.at(-1);
    if (last?.name === name) continue;
    if (last) last.until = from;
    out.push({ name, from, until: end });
  }
  return out;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map((seconds) => seconds * 1000);

/** The time axis of runs: its end, which is a tick after the longest of them, and its ticks, at most six. */
export function axis(longest: number): { end: number; ticks: number[] } {
  const step = steps.find((each) => longest / each <= 5) ?? Math.ceil(longest / 5);
  const end = Math.max(step, Math.ceil(longest / step) * step);
  return { end, ticks: Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step) };
}

/** A duration as 0:04, 4:06 or 1:02:03. */
export function duration(milliseconds: number): string {
  const all = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor(all / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}

/** What a line of a plan does: the server says it after the last colon. */
export function changeOf(line: string): "+" | "−" | "~" {
  if (/: added\b/.test(line)) return "+";
  return /: removed\b/.test(line) ? "−" : "~";
}
