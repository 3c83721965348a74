import type { Texts } from "./index";
import { deletion } from "./zh-delete";
import { edit } from "./zh-edit";
import { forms } from "./zh-forms";
import { frame } from "./zh-frame";
import { list } from "./zh-list";
import { logs } from "./zh-logs";
import { object } from "./zh-object";
import { pool } from "./zh-pool";
import { terminal } from "./zh-terminal";

export const zh: Texts = { ...deletion, ...edit, ...forms, ...frame, ...list, ...logs, ...object, ...pool, ...terminal };
