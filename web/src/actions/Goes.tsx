import { useSay } from "../i18n";

/** Whether something goes with a deletion, or stays. */
export function Goes({ goes }: { goes: boolean }) {
  const say = useSay();
  return goes ? <span className="bad" aria-label={say("confirm.gone")} role="img">✕</span> : <span className="ok" aria-label={say("confirm.stays")} role="img">✓</span>;
}
