import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { longest, parsed, plain, shortNames, Splitter, tone } from "./lines";
import { Ring } from "./ring";
import { pull } from "./useLog";

afterEach(() => vi.unstubAllGlobals());

test("lines are the same however the stream is cut", () => {
  fc.assert(fc.property(fc.array(fc.string().filter((line) => !/[\r\n]/.test(line))), fc.array(fc.nat(), { maxLength: 20 }), (lines, cuts) => {
    const text = lines.map((line) => `${line}\n`).join("");
    const at = [0, ...cuts.map((cut) => (text.length === 0 ? 0 : cut % text.length)).sort((a, b) => a - b), text.length];
    const splitter = new Splitter();
    const got = at.slice(1).flatMap((end, index) => splitter.push(text.slice(at[index], end)));
    expect([...got, ...splitter.end()]).toEqual(lines);
  }));
});

test("a line without an end is cut", () => {
  const splitter = new Splitter();
  const got = [...splitter.push("x".repeat(longest * 2 + 1)), ...splitter.push("y\n"), ...splitter.end()];
  expect(got.map((line) => line.length)).toEqual([longest, longest, 2]);
});

test("a ring keeps the newest lines, and no more than it may", () => {
  fc.assert(fc.property(fc.array(fc.array(fc.string({ maxLength: 50 }), { maxLength: 30 }), { maxLength: 20 }), fc.boolean(), (parts, held) => {
    const ring = new Ring(10, 100);
    ring.held = held;
    const all = parts.flat();
    for (const part of parts) ring.push(part.map((text) => ({ text })));
    const kept = ring.list();
    expect(kept.length + ring.dropped).toBe(all.length);
    expect(kept.map((line) => line.text)).toEqual(all.slice(ring.dropped));
    expect(kept.map((line) => line.id)).toEqual(kept.map((_, index) => ring.dropped + index));
    expect(kept.length).toBeLessThanOrEqual(held ? 20 : 10);
    expect(ring.size).toBe(kept.reduce((sum, line) => sum + line.text.length, 0));
    expect(ring.size).toBeLessThanOrEqual(held ? 200 : 100);
    expect(kept.length > 0).toBe(all.length > 0);
  }));
});

test("a line of several pods says where it comes from", () => {
  expect(parsed('{"pod":"a","container":"c","time":"2026-01-02T03:04:05Z","line":"GET /"}')).toEqual({ pod: "a", container: "c", time: "2026-01-02T03:04:05Z", text: "GET /" });
  expect(parsed('{"pod":"a","notice":"has joined"}')).toEqual({ pod: "a", text: "has joined", notice: true });
  expect(parsed("no JSON")).toEqual({ text: "no JSON" });
});

test("what a terminal would obey is taken out", () => expect(plain("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007end\u0008")).toBe("red end"));

test.each([
  ['time="x" level=error msg="no"', "error"], ["E0102 03:04:05 it broke", "error"], ["FATA[0001] over", "error"],
  ["WARN slow", "warning"], ["Failed to pull image", "warning"], ["GET / 200", undefined], ["no errors here", undefined],
])("%s", (line, wanted) => expect(tone(line)).toBe(wanted));

test("pods are called what distinguishes them", () => {
  expect([...shortNames(["web-7d-x2x8p", "web-7d-x9kq2"]).values()]).toEqual(["x2x8p", "x9kq2"]);
  expect([...shortNames(["web-7d-x2x8p"]).values()]).toEqual(["web-7d-x2x8p"]);
});

test.each([["comes to its end", true], ["is cut off", false]])("a log that %s says so, and keeps what has come", async (_, whole) => {
  const body = new ReadableStream<Uint8Array>({
    start: (to) => to.enqueue(new TextEncoder().encode("one\ntw")),
    pull: (to) => (whole ? to.close() : to.error(new TypeError("network error"))),
  });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
  const got: string[] = [];
  expect(await pull({ path: "/log", format: "text" }, new AbortController().signal, (lines) => got.push(...lines.map(({ text }) => text)))).toBe(whole);
  expect(got).toEqual(["one", "tw"]);
});
