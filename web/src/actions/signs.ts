import type { IconName } from "../components/Icon";
import type { Deed } from "./list";

const signs: Partial<Record<Deed["key"], IconName>> = {
  "action.start": "play", "action.wake": "play", "action.resume": "play", "action.stop": "stop", "action.suspend": "pause", "action.pause": "pause",
  "action.restart": "again", "action.restartPods": "again", "action.retry": "again", "action.cordon": "closed", "action.uncordon": "check", "action.acknowledge": "check",
};

/** The sign beside the word of an action that has a button of its own. */
export function signOf(deed: Deed): IconName | undefined {
  return signs[deed.key];
}
