import { translations } from "./templates";
import type { Texts, Translation } from "./index";
import { zhChecks } from "./zh-checks";
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
import { reasons } from "./zh-reasons";
import { zhSteps } from "./zh-steps";
import { terminal } from "./zh-terminal";

/** What the server says, in Chinese. */
export const zhTranslation: Translation = { meaning: (reason) => reasons.get(reason ?? ""), check: (id) => zhChecks.get(id), step: translations(zhSteps) };
export const zh: Texts = { ...cluster, ...deletion, ...edit, ...forms, ...frame, ...list, ...logs, ...machine, ...object, ...pool, ...terminal };
