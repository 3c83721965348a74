import type { Texts } from "./index";
import { frame } from "./zh-frame";
import { object } from "./zh-object";

export const zh: Texts = { ...frame, ...object };
