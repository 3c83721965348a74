import type { KubeObject } from "../../api/types";
import { type Judged, number } from "../../status/status";

/** Who wants to change the size of an object goes to the stepper on its page: it is wanted before the page is there. */
let wanted: string | undefined;
const steppers = new Map<string, () => void>();

/** The kinds that have a stepper. */
export const sized: readonly string[] = ["podsets", "deployments"];

type Sizable = KubeObject & Judged & { metadata: { ownerReferences?: readonly { controller?: boolean }[] } };

/** How many pods an object is to have; undefined where it has no size, or a pod set sets that of its Deployment. */
export function sizeOf(plural: string, { metadata, spec }: Sizable): number | undefined {
  if (plural === "podsets") return number(spec, "size") ?? 0;
  const owned = metadata.ownerReferences?.some((owner) => owner.controller === true);
  return plural === "deployments" && !owned ? (number(spec, "replicas") ?? 1) : undefined;
}

/** The largest number of pods that can be typed: one more digit is a slip of the finger. */
const most = 99_999;

/** The nearest number of pods that can be asked for. */
export function bounded(size: number): number {
  return Math.min(most, Math.max(0, size));
}

/** The number of pods that a text says; undefined where it says none. */
export function sizeIn(text: string): number | undefined {
  const size = Number(text);
  return Number.isInteger(size) && size === bounded(size) ? size : undefined;
}

export function sizeKey(plural: string, namespace: string | undefined, name: string): string {
  return `${plural}/${namespace ?? ""}/${name}`;
}

/** Has the stepper of an object take the focus, now or as soon as it is there. */
export function wantSize(key: string): void {
  const stepper = steppers.get(key);
  if (stepper) stepper();
  else wanted = key;
}

/** A stepper that is there, until the call that is returned. */
export function offerSize(key: string, focus: () => void): () => void {
  steppers.set(key, focus);
  if (wanted === key) focus();
  wanted = undefined; // who has gone to another page no longer wants it
  return () => { if (steppers.get(key) === focus) steppers.delete(key); };
}
