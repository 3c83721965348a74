import { useRef } from "react";
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

/** What has been answered to a question, which of names. */
interface Answered {
  of: string;
  error: Error | null;
}

/** A refusal for the moment stays while the same is asked again: the library forgets it for as long, and whatever says so would come and go. */
export function lasting(before: Answered | undefined, now: Answered, idle: boolean): Answered {
  return idle || now.error || before?.of !== now.of || !isPassing(before.error) ? now : before;
}

/** The error of a query that is asked again by itself, until the next answer is there. of is what it asks. */
export function useLasting({ error, fetchStatus }: { error: Error | null; fetchStatus: "fetching" | "paused" | "idle" }, of: string): Error | null {
  const last = useRef<Answered>(undefined);
  last.current = lasting(last.current, { of, error }, fetchStatus === "idle");
  return last.current.error;
}
