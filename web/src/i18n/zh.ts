import type { Texts } from "./index";
import { frame } from "./zh-frame";
import { list } from "./zh-list";
import { logs } from "./zh-logs";
import { object } from "./zh-object";
import { pool } from "./zh-pool";
import { terminal } from "./zh-terminal";

export const zh: Texts = { ...frame, ...list, ...logs, ...object, ...pool, ...terminal };
