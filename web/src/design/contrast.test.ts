import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function tokens(dark: boolean): Map<string, string> {
  return new Map([...css.matchAll(/--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)/g)].map((match) => [match[1] ?? "", (dark ? match[3] : match[2]) ?? ""]));
}

const surfaces = ["bg", "rail", "raised", "sunken", "hover", "selected", "idle-bg"];
const texts = ["ink", "ink-2", "ink-3", "accent", "ok", "warn", "bad"];
const pairs: [string, string, number][] = [
  ...surfaces.flatMap((surface) => texts.map((text): [string, string, number] => [text, surface, 4.5])),
  ...["bg", "raised", "hover"].map((surface): [string, string, number] => ["edge", surface, 3]),
  ["on-accent", "accent", 4.5], ["on-bad", "bad", 4.5], ["ok", "ok-bg", 4.5], ["warn", "warn-bg", 4.5], ["bad", "bad-bg", 4.5], ["ink", "bad-bg", 4.5], ["ink", "warn-bg", 4.5],
  ["ink-2", "bad-bg", 4.5], ["ink-2", "warn-bg", 4.5], ["member", "bg", 3],
];

test.each(["light", "dark"])("every pair of colours can be read in the %s theme", (theme) => {
  const of = tokens(theme === "dark");
  for (const [front, back, least] of pairs) {
    const [a = 0, b = 0] = [of.get(front), of.get(back)].map((hex) => luminance(hex ?? "")).sort((x, y) => y - x);
    expect((a + 0.05) / (b + 0.05), `${front} on ${back}`).toBeGreaterThanOrEqual(least);
  }
});
