import { Refusal } from "./client";

/** How long a question that has failed for the moment waits until it is asked again. */
const wait = 5000;

/** Whether a refusal is only for the moment, and says nothing about what was sent: the server is out of reach or has too much to do, or nobody is signed in. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  const { status } = error.problem;
  return status === 0 || status >= 500 || [401, 408, 429].includes(status);
}

/** How soon a failed request is repeated without a click, in milliseconds. After 401 it is not: signing in repeats all requests. */
export function whilePassing({ state: { error } }: { state: { error: Error | null } }): number | false {
  return isPassing(error) && !(error instanceof Refusal && error.problem.status === 401) ? wait : false;
}
