import { frame } from "./en-frame";
import { object } from "./en-object";

/** Every text of the console. The other language must have the same keys: a missing one does not compile. */
export const en = { ...frame, ...object } as const;
