/**
 * The format of exec and of consoles: each message begins with a byte that names its channel. It is the one of Kubernetes,
 * v5.channel.k8s.io and v4.channel.k8s.io.
 */
export const channel = { stdin: 0, stdout: 1, stderr: 2, result: 3, size: 4, close: 255 } as const;

/** The newest first: the server takes the first one that it knows. */
export const subprotocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

/** How much one message may carry, below the server's limit of 256 KiB. */
const most = 64 * 1024;

export function message(of: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(content.length + 1);
  out[0] = of;
  out.set(content, 1);
  return out;
}

/** What is typed or pasted, in as many messages as it needs. */
export function typed(text: string): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(text);
  const out: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; at += most) out.push(message(channel.stdin, bytes.subarray(at, at + most)));
  return out;
}

export function sized(columns: number, rows: number): Uint8Array<ArrayBuffer> {
  return message(channel.size, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })));
}

export interface Part {
  channel: number;
  content: Uint8Array;
}

/** Reads a message. One without a byte keeps the connection alive and says nothing. */
export function part(data: ArrayBuffer): Part | undefined {
  const bytes = new Uint8Array(data);
  return bytes.length === 0 ? undefined : { channel: bytes[0] ?? 0, content: bytes.subarray(1) };
}

/** How a program or a console has ended. */
export type Ending =
  | { how: "exited"; code: number }
  | { how: "failed"; message: string }
  | { how: "left" }
  | { how: "closed"; code: number; message: string }
  | { how: "refused"; message: string };

interface Result {
  status?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

/** Reads what channel 3 says: a Status, whose cause ExitCode has the code of a program that failed. */
export function ending(content: Uint8Array): Ending {
  const text = new TextDecoder().decode(content);
  let result: Result;
  try {
    result = JSON.parse(text);
  } catch {
    return { how: "failed", message: text };
  }
  if (result.status === "Success") return { how: "exited", code: 0 };
  const code = Number(result.details?.causes?.find((cause) => cause.reason === "ExitCode")?.message);
  return Number.isInteger(code) ? { how: "exited", code } : { how: "failed", message: result.message ?? text };
}
