/** Who wants to change the size of an object goes to the stepper on its page: it is wanted before the page is there. */
let wanted: string | undefined;
const steppers = new Map<string, () => void>();

/** The kinds that have a stepper. */
export const sized: readonly string[] = ["podsets", "deployments"];

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
