import { isAttended } from "./attended";
import type { Problem } from "./types";

/** An answer of the API that is not what was asked for, in the server's words. */
export class Refusal extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

/** Called when the API says that nobody is signed in. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(call: () => void): void {
  onSignedOut = call;
}

async function refusal(answer: Response): Promise<Refusal> {
  const fallback: Problem = { type: "about:blank", code: "Unreadable", title: answer.statusText || "No answer", status: answer.status };
  if (answer.headers.get("Content-Type")?.includes("json") !== true) return new Refusal(fallback);
  const body: Problem = await answer.json().catch(() => fallback);
  return new Refusal(body);
}

export interface Send {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  type?: string;
  signal?: AbortSignal;
}

/** Sends one request with the cookie of the session, and throws a Refusal for every answer that is not a success. */
export async function send(path: string, { method = "GET", body, type = "application/json", signal }: Send = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  const init: RequestInit = { method, credentials: "same-origin", headers };
  if (method === "GET" && !isAttended()) headers["Windlass-Unattended"] = "1";
  if (signal) init.signal = signal;
  if (body !== undefined) {
    // What is text already is sent as it is: YAML, which the server reads.
    init.body = typeof body === "string" && type.endsWith("yaml") ? body : JSON.stringify(body);
    headers["Content-Type"] = type;
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Refusal({ type: "about:blank", code: "Unreachable", title: "The server does not answer", status: 0 });
  }
  if (answer.ok) return answer;
  const problem = await refusal(answer);
  if (answer.status === 401 && path !== "/v1/session") onSignedOut();
  throw problem;
}

/** The JSON of an answer. The type is the caller's promise, which the description of the API backs: this is the only place that believes it. */
export async function bodyOf<T>(answer: Response): Promise<T> {
  const body: T = await answer.json();
  return body;
}

/** Reads JSON. */
export async function read<T>(path: string, options?: Send): Promise<T> {
  return bodyOf<T>(await send(path, options));
}

export async function text(path: string, signal?: AbortSignal): Promise<string> {
  return (await send(path, signal ? { signal } : {})).text();
}

/** The path of an object: with its namespace if it has one. */
export function objectPath(plural: string, namespace: string | undefined, name: string): string {
  return "/" + [plural, ...(namespace ? [namespace] : []), name].map(encodeURIComponent).join("/");
}

/** A query string of what is set. */
export function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "" && value !== false) out.set(name, String(value));
  }
  const encoded = out.toString();
  return encoded === "" ? "" : "?" + encoded;
}
