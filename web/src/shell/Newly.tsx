import { useEffect, useMemo, useRef } from "react";
import { announce } from "../components/announce";
import { useSay } from "../i18n";
import { kindOf } from "../kinds/registry";
import { useFilled, useSlowly } from "../live/hooks";
import { useCountInTitle, useMatters, useWatched } from "../live/needs";

/** How often the reader is told what newly needs them, in milliseconds. */
const every = 10_000;

/** Counts in the title of the window what needs somebody, and tells screen readers what newly does. */
export function Newly({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const all = useWatched(namespace);
  const whole = useFilled();
  // Together: what there was when the page was opened is not new.
  const { filled, objects } = useSlowly(useMemo(() => ({ filled: whole, objects: all }), [whole, all]), 1000);
  const { needs } = useMatters(objects, false);
  useCountInTitle(filled ? needs.length : 0);

  const known = useRef<Set<string>>(undefined);
  const timer = useRef<number>(undefined);
  const latest = useRef(needs);
  latest.current = needs;
  useEffect(() => {
    if (!filled) return;
    const tell = () => {
      timer.current = undefined;
      const now = new Map(latest.current.flatMap((matter) => matter.objects.map((object) => [
        `${matter.plural}/${object.metadata.uid ?? ""}`,
        say("needs.newly", { kind: kindOf(matter.plural)?.kind ?? matter.plural, name: object.metadata.name ?? "", status: say(`status.${matter.status.name}`), reason: matter.status.reason ?? "" }),
      ])));
      // What was there when the page was opened is on the page.
      const fresh = known.current && [...now].filter(([key]) => !known.current?.has(key)).map(([, text]) => text);
      known.current = new Set(now.keys());
      if (fresh && fresh.length > 0) announce(fresh.length > 3 ? say("needs.manyNewly", { count: fresh.length }) : fresh.join(" "));
    };
    if (!known.current) tell();
    else timer.current ??= window.setTimeout(tell, every);
  }, [needs, filled, say]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return null;
}
