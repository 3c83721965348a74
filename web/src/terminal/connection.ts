import { Refusal, send } from "../api/client";
import { channel, type Ending, ending, part, sized, subprotocols, typed } from "./protocol";

export interface Heard {
  opened: () => void;
  printed: (bytes: Uint8Array) => void;
  ended: (how: Ending) => void;
}

/** A connection to a program or a console, with the cookie of the session. */
export interface Connection {
  type: (text: string) => void;
  resize: (columns: number, rows: number) => void;
  leave: () => void;
}

/** The server's words for a connection that it has refused. A browser hides them, so the path is asked once more as a plain request. */
async function refusal(path: string): Promise<string | undefined> {
  try {
    await send(path);
  } catch (cause) {
    // 426 only says that a plain request opens nothing.
    if (cause instanceof Refusal && cause.problem.status !== 426) return cause.message;
  }
  return undefined;
}

export function connect(path: string, heard: Heard): Connection {
  const address = new URL(path, window.location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address, subprotocols);
  socket.binaryType = "arraybuffer";
  let opened = false;
  let result: Ending | undefined;
  let left = false;
  socket.onopen = () => { opened = true; heard.opened(); };
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
    const said = part(data);
    if (said?.channel === channel.stdout || said?.channel === channel.stderr) heard.printed(said.content);
    else if (said?.channel === channel.result) result = ending(said.content);
  };
  socket.onclose = ({ code, reason }) => {
    if (result) heard.ended(result);
    else if (opened) heard.ended(code === 1000 ? { how: "left" } : { how: "closed", code, message: reason });
    else void refusal(path).then((message) => { if (!left) heard.ended({ how: "refused", message: message ?? "" }); });
  };
  const say = (messages: Uint8Array<ArrayBuffer>[]) => {
    if (socket.readyState === WebSocket.OPEN) for (const each of messages) socket.send(each);
  };
  return {
    type: (text) => say(typed(text)),
    resize: (columns, rows) => say([sized(columns, rows)]),
    // Whoever leaves knows it, and the close comes when the other end takes it: by then there can be another connection.
    leave: () => {
      left = true;
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(1000);
    },
  };
}
