import { cluster } from "./en-cluster";
import { deletion } from "./en-delete";
import { edit } from "./en-edit";
import { forms } from "./en-forms";
import { frame } from "./en-frame";
import { list } from "./en-list";
import { logs } from "./en-logs";
import { machine } from "./en-machine";
import { object } from "./en-object";
import { pool } from "./en-pool";
import { terminal } from "./en-terminal";

/** Every text of the console. The other language must have the same keys: a missing one does not compile. */
export const en = { ...cluster, ...deletion, ...edit, ...forms, ...frame, ...list, ...logs, ...machine, ...object, ...pool, ...terminal } as const;
