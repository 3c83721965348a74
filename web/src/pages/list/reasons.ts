import type { Status, StatusName } from "../../status/status";

/** What somebody has to read, however many there are. */
const loud: readonly StatusName[] = ["stalled", "unknown", "waiting", "retrying", "attention"];
/** What passes by itself, as a rule: of thousands it would be a field of lines that come and go, and in a short list it says what is waited for. */
const quiet: readonly StatusName[] = ["reconciling", "deleting"];
/** So many rows are a short list. */
const few = 100;

/** Whether a list has room for the reasons of what passes by itself. Pods come up in seconds: their owners say what they wait for. */
export function isShort(plural: string, total: number): boolean {
  return total <= few && plural !== "pods";
}

/** Whether a row has its reason in a line of its own. */
export function hasReason(status: Status | undefined, short: boolean): boolean {
  if (status === undefined || (status.reason === undefined && status.message === undefined)) return false;
  return loud.includes(status.name) || (short && quiet.includes(status.name));
}
