import fc from "fast-check";
import { expect, test } from "vitest";
import { channel, ending, part, sized, typed } from "./protocol";

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (content: Uint8Array | undefined) => new TextDecoder().decode(content);

test("what is typed arrives whole, in messages that the server takes", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 1, max: 2000 }), (text, times) => {
    const long = text.repeat(times);
    const parts = typed(long).map((each) => part(each.buffer));
    expect(parts.every((each) => each?.channel === channel.stdin && each.content.length <= 64 * 1024)).toBe(true);
    const all = parts.flatMap((each) => [...(each?.content ?? [])]);
    expect(read(Uint8Array.from(all))).toBe(long);
  }), { numRuns: 30 });
});

test("a size is JSON on its channel", () => {
  expect(part(sized(80, 24).buffer)?.channel).toBe(channel.size);
  expect(read(part(sized(80, 24).buffer)?.content)).toBe('{"Width":80,"Height":24}');
});

test("a message without a byte says nothing", () => expect(part(new ArrayBuffer(0))).toBeUndefined());

test.each([
  ['{"status":"Success"}', { how: "exited", code: 0 }],
  ['{"status":"Failure","message":"command terminated","details":{"causes":[{"reason":"ExitCode","message":"130"}]}}', { how: "exited", code: 130 }],
  ['{"status":"Failure","message":"no such program: sh","reason":"InternalError"}', { how: "failed", message: "no such program: sh" }],
  ["not JSON", { how: "failed", message: "not JSON" }],
])("the result %s", (text, wanted) => expect(ending(bytes(text))).toEqual(wanted));
