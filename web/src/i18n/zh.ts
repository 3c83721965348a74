import type { Texts } from "./index";
import { frame } from "./zh-frame";
import { object } from "./zh-object";
import { terminal } from "./zh-terminal";

export const zh: Texts = { ...frame, ...object, ...terminal };
