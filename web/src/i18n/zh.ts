import type { Texts } from "./index";
import { cluster } from "./zh-cluster";
import { deletion } from "./zh-delete";
import { edit } from "./zh-edit";
import { forms } from "./zh-forms";
import { frame } from "./zh-frame";
import { list } from "./zh-list";
import { logs } from "./zh-logs";
import { machine } from "./zh-machine";
import { object } from "./zh-object";
import { pool } from "./zh-pool";
import { terminal } from "./zh-terminal";

export { reasons } from "./zh-reasons";
export const zh: Texts = { ...cluster, ...deletion, ...edit, ...forms, ...frame, ...list, ...logs, ...machine, ...object, ...pool, ...terminal };
