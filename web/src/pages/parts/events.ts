import type { Objects } from "../../api/types";

type Event = Objects["events"];

/** When an event was last seen, in whichever of its fields that is. */
export function seen(event: Event): string {
  return event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "";
}

/** So many events, the newest first: there can be thousands, of which a page shows the newest, several times a second. */
export function newest(events: readonly Event[], limit = Infinity): Event[] {
  const out: { event: Event; at: string }[] = [];
  for (const event of events) {
    const at = seen(event);
    const last = out.length < limit ? undefined : out.at(-1);
    if (last && at <= last.at) continue;
    let low = 0;
    let high = out.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((out[middle]?.at ?? "") >= at) low = middle + 1;
      else high = middle;
    }
    out.splice(low, 0, { event, at });
    if (out.length > limit) out.pop();
  }
  return out.map(({ event }) => event);
}

/** What is searched of an event, once for as long as it is the same. */
const texts = new WeakMap<Event, string>();

function textOf(event: Event): string {
  let text = texts.get(event);
  if (text === undefined) {
    const { kind, namespace, name } = event.involvedObject;
    texts.set(event, (text = [kind, namespace, name, event.reason, event.message, event.type].join(" ").toLowerCase()));
  }
  return text;
}

/** The events that selectors have chosen, by their UIDs, and that have all of the words; all of them where nothing is asked for. */
export function matching(events: readonly Event[], chosen: ReadonlySet<string | undefined> | undefined, words: string): readonly Event[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!chosen && wanted.length === 0) return events;
  return events.filter((event) => (!chosen || chosen.has(event.metadata.uid)) && wanted.every((word) => textOf(event).includes(word)));
}
