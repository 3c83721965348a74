import { Link } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Objects } from "../../api/types";
import { Nothing } from "../../components/parts";
import { useLanguage } from "../../i18n";
import { kindNamed, pageOf } from "../../kinds/registry";
import { useHeld, useNow } from "../../live/hooks";
import { inPlace, movedOf } from "../../live/inPlace";
import { useHolding } from "../../live/useHolding";
import { clock } from "../../status/age";
import { Shape } from "../../status/shapes";
import { newest, seen } from "./events";
import { Renew } from "./Renew";

type Event = Objects["events"];

const asTheyAre = (held: readonly Event[], now: readonly Event[]) => inPlace(held, now, ({ metadata }) => [metadata.uid]);

/** Events, newest first, and how many there are besides; the order stays while pointer or focus is in them, and how many have come stands above. of is what they are about, or what they were asked for with. Older ones that are not among them are counted with those that the limit leaves out. A brief table does not say so. */
export function EventTable({ events, of, limit, older = 0, object = true, brief = false }: { events: readonly Event[]; of: string; limit?: number; older?: number; object?: boolean; brief?: boolean }) {
  const { say, language } = useLanguage();
  const now = useNow(60_000);
  const { held, holds, letGo, unfocus } = useHolding();
  const latest: readonly Event[] = useMemo(() => newest(events, limit), [events, limit]);
  const { shown, show } = useHeld(latest, held, of, asTheyAre);
  const none = shown.length === 0;
  useEffect(() => { if (none) letGo(); }, [none, letGo]); // no pointer leaves a table that is taken away
  // The oldest leave when others come, and nobody asks for those.
  const { added } = useMemo(() => movedOf(shown, latest), [shown, latest]);
  if (none) return <Nothing>{say("events.none")}</Nothing>;
  const rest = events.length - latest.length + older;
  return (
    <div className="scroll" role="group" aria-label={say("tab.events")} tabIndex={0} {...holds}>
      <table className="cards events">
        <thead><tr>
          <th scope="col">{say("events.seen")}</th><th scope="col">{say("events.type")}</th>{object && <th scope="col">{say("events.object")}</th>}
          <th scope="col">{say("events.reason")}</th><th scope="col"><span className="row between">{say("events.message")}<Renew added={added} gone={0} text="events.moved" onShow={() => { show(); unfocus(); }} /></span></th>
        </tr></thead>
        <tbody>
          {shown.map((event) => {
            const about = event.involvedObject;
            const kind = kindNamed(about.kind ?? "");
            const name = about.namespace ? `${about.namespace}/${about.name ?? ""}` : (about.name ?? "");
            const count = event.series?.count ?? event.count ?? 1;
            return (
              <tr key={event.metadata.uid ?? `${event.metadata.namespace ?? ""}/${event.metadata.name ?? ""}`}>
                <td className="sub mark">{clock(seen(event), language, now)}</td>
                <td>{event.type === "Warning" ? <span className="st attention warn"><Shape name="attention" size={12} />{say("events.warning")}</span> : <span className="dim">{say("events.normal")}</span>}</td>
                {object && <td className="nm"><span className="kind">{about.kind}</span> {kind ? <Link className="plainlink" to={pageOf(kind.plural, about.namespace, about.name ?? "")}>{name}</Link> : name}</td>}
                <td className="reason">{event.reason}</td>
                <td className="wraps" lang="en">{event.message}{count > 1 && <span className="dim"> ×{count}</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rest > 0 && !brief && <p className="small sub" role="status">{say("events.older", { count: rest })}</p>}
    </div>
  );
}
