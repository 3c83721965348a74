import { fill } from "../i18n";
import { givenUp, steps, waiting } from "../i18n/en-steps";
import { type Judged, type Status, text } from "./status";

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

const usual: Table = steps;
const after: Table = givenUp;

/** The code under which the server explains an object of the kind that has this status. */
function codeOf(kind: string, { name, reason, word }: Status): string | undefined {
  if (kind === "Node") return name === "attention" ? "NodePressure" : "NodeNotReady";
  if (kind !== "Pod" || reason === "Unschedulable") return reason;
  if (name === "stalled") return "PodFailed";
  return word === undefined ? undefined : waiting[word];
}

/** What to do about the status of an object, as the server says it when it explains the object; undefined where it says nothing about the reason. */
export function nextOf(kind: string, status: Status, object: Judged): string | undefined {
  const code = codeOf(kind, status);
  if (code === undefined) return undefined;
  const found = (status.name === "stalled" ? after[kind]?.[code] : undefined) ?? usual[kind]?.[code] ?? usual[""]?.[code];
  // What its command has to be told says nothing without the command.
  return found && fill(found.replace(/: \$A and \$T [^.]*\./, "."), { pool: text(object.spec, "nodePool") ?? "<pool>" });
}
