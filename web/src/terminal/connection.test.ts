import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connect } from "./connection";
import type { Ending } from "./protocol";

/** A socket of a browser that a test speaks for. */
class Socket {
  static readonly OPEN = 1;
  static readonly opened: Socket[] = [];
  readyState = Socket.OPEN;
  binaryType = "";
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: ArrayBuffer }) => void) | null = null;
  onclose: ((close: { code: number; reason: string }) => void) | null = null;
  closed = 0;

  constructor() {
    Socket.opened.push(this);
  }

  close(): void {
    this.closed++;
  }
}

beforeEach(() => {
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("window", { location: { href: "http://console/" } });
});

afterEach(() => vi.unstubAllGlobals());

function begun() {
  const ends: Ending[] = [];
  const connection = connect("/v1/pods/a/b/exec", { opened: () => undefined, printed: () => undefined, ended: (how) => ends.push(how) });
  const socket = Socket.opened.at(-1);
  if (!socket) throw new Error("no socket is opened");
  return { connection, ends, socket };
}

test("a connection that ends says how", () => {
  const { ends, socket } = begun();
  socket.onopen?.();
  socket.onclose?.({ code: 1001, reason: "the server stops" });
  expect(ends).toEqual([{ how: "closed", code: 1001, message: "the server stops" }]);
});

test("the close of a terminal that somebody has left ends the next one", () => {
  const { connection, ends, socket } = begun();
  socket.onopen?.();
  connection.leave();
  expect(socket.closed).toBe(1);
  socket.onclose?.({ code: 1000, reason: "" });
  expect(ends).toEqual([]);
});

test("the refusal of a terminal that somebody has left is told to the next one", async () => {
  let answer: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", () => new Promise<Response>((done) => { answer = done; }));
  const { connection, ends, socket } = begun();
  socket.onclose?.({ code: 1006, reason: "" });
  connection.leave();
  answer(new Response(null, { status: 503 }));
  await new Promise((done) => setTimeout(done, 0));
  expect(ends).toEqual([]);
});
