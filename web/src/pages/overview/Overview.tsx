import { Link, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Later, later } from "../../components/later";
import { Panel, Segments, Skeleton } from "../../components/parts";
import { useSay } from "../../i18n";
import { useFilled, useHeld, useHidden, useObjects } from "../../live/hooks";
import { inPlace, movedOf } from "../../live/inPlace";
import { useMatters, useTitle, useWatched, watched } from "../../live/needs";
import { useHolding } from "../../live/useHolding";
import type { By } from "../../map/model";
import { NodeMap } from "../../map/NodeMap";
import { useNodeMap } from "../../map/useNodeMap";
import { type Matter, tallyOf } from "../../status/order";
import { EventTable } from "../parts/EventTable";
import { Renew } from "../parts/Renew";
import { Matters } from "./Matters";
import { useLingering } from "./useLingering";

const CreateMenu = later(async () => (await import("./CreateMenu")).CreateMenu);

export function Overview() {
  const say = useSay();
  useTitle(say("nav.overview"));
  // Nothing is counted while objects still arrive: they can be thousands, and each bundle of them would be counted anew.
  return useFilled() ? <Whole /> : <Skeleton rows={8} />;
}

const asTheyAre = (held: readonly Matter[], now: readonly Matter[]) => inPlace(held, now, ({ objects }) => objects.map(({ metadata }) => metadata.uid));

/** Rows that stay while pointer or focus is among them, with what there is beside them by now. */
function useRows(now: readonly Matter[], { held, unfocus }: ReturnType<typeof useHolding>, where: string) {
  const { shown, show } = useHeld(now, held, where, asTheyAre);
  const { added, gone } = useMemo(() => movedOf(shown, now), [shown, now]);
  return { shown, renew: <Renew added={added} gone={gone} onShow={() => { show(); unfocus(); }} /> };
}

function Whole() {
  const say = useSay();
  const { ns } = useSearch({ from: "__root__" });
  const all = useWatched(ns);
  const holding = useHolding();
  const found = useMatters(all);
  const where = ns ?? "";
  const needs = useRows(useLingering(found.needs, all, where), holding, where);
  const moves = useRows(found.moves, holding, where);
  const total = watched.reduce((sum, kind) => sum + (all[kind]?.length ?? 0), 0);
  const ready = useMemo(() => watched.reduce((sum, kind) => sum + tallyOf(kind, all[kind] ?? []).ready, 0), [all]);
  const count = found.needs.length;
  const title = count === 0 ? say(found.moves.length > 0 ? "overview.none" : "overview.ready") : count === 1 ? say("overview.one") : say("overview.many", { count });

  return (
    <>
      <div className="title"><div><h1>{title}</h1><p className="sub">{say(found.moves.length > 0 ? "overview.sub" : "overview.subStill", { ready, total, moving: found.moves.length })}</p></div><div className="acts"><Later short><CreateMenu namespace={ns} /></Later></div></div>
      <div className="grid halves" {...holding.holds}>
        <Panel title={say("overview.needs")} sub={needs.shown.length > 0 ? say("overview.needsSub", { count: needs.shown.length }) : undefined} aside={needs.renew} flush>
          <Matters matters={needs.shown} nothing={say("overview.nothing")} explained />
        </Panel>
        <Panel title={say("overview.progress")} sub={moves.shown.length > 0 ? say("overview.progressSub", { count: moves.shown.length }) : undefined} aside={moves.renew} folds={say("overview.unfold")} flush>
          <Matters matters={moves.shown} nothing={say("overview.still")} />
        </Panel>
      </div>
      <Capacity />
      <RecentEvents namespace={ns} />
    </>
  );
}

function Capacity() {
  const say = useSay();
  const hidden = useHidden();
  const [by, setBy] = useState<By>("pools");
  const shown = useNodeMap(by);
  const spots = shown.layout.blocks.flatMap((block) => block.spots);
  if (hidden.includes("nodes")) return null;
  const choice = <Segments label={say("map.by")} value={by} options={(["pools", "zones", "sizes"] as const).map((each) => [each, say(`map.by.${each}`)] as const)} onChange={setBy} />;
  const sub = by !== "pools" ? String(spots.length) : say("map.sub", {
    nodes: spots.length, pools: shown.rows.length, shared: spots.filter((spot) => spot.pools.length > 1).length, none: spots.filter((spot) => spot.pools.length === 0).length,
  });
  return <Panel title={say(by === "pools" ? "map.title" : by === "zones" ? "map.titleZones" : "map.titleSizes")} sub={sub} aside={spots.length > 0 && choice} flush>{spots.length === 0 ? <p className="nothing">{say("map.empty")}</p> : <NodeMap shown={shown} />}</Panel>;
}

function RecentEvents({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const events = useObjects("events", namespace);
  return (
    <Panel title={say("overview.events")} flush aside={<Link className="link small" to="/$kind" params={{ kind: "events" }} search={{ ns: namespace }}>{say("overview.allEvents")}</Link>}>
      <EventTable events={events} of={namespace ?? ""} limit={8} />
    </Panel>
  );
}
