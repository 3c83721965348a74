import { useEffect, useMemo, useRef } from "react";
import { announce } from "../components/announce";
import { useSay } from "../i18n";
import { kindOf } from "../kinds/registry";
import { useFilled, useSlowly } from "../live/hooks";
import { useCountInTitle, useMatters, useWatched } from "../live/needs";
import { freshOf, type Told } from "./fresh";

/** How often the reader is told what newly needs them, in milliseconds. */
const every = 10_000;

/** Counts in the title of the window what needs somebody, and tells screen readers what newly does. */
export function Newly({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const all = useWatched(namespace);
  const whole = useFilled();
  // Together: what there was when the page, or the namespace, was opened is not new.
  const { filled, objects, of } = useSlowly(useMemo(() => ({ filled: whole, objects: all, of: namespace }), [whole, all, namespace]), 1000);
  const { needs } = useMatters(objects, false);
  useCountInTitle(filled ? needs.length : 0);

  const told = useRef<Told>(undefined);
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
      const fresh = freshOf(told.current, of, now);
      told.current = { of, keys: new Set(now.keys()) };
      if (fresh.length > 0) announce(fresh.length > 3 ? say("needs.manyNewly", { count: fresh.length }) : fresh.join(" "));
    };
    if (!told.current || told.current.of !== of) {
      window.clearTimeout(timer.current);
      tell();
    } else timer.current ??= window.setTimeout(tell, every);
  }, [needs, filled, say, of]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return null;
}
