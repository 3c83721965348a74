import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { query, read, text } from "../../../api/client";
import type { Schemas } from "../../../api/types";
import { Nothing, Panel, Segments } from "../../../components/parts";
import { useLanguage } from "../../../i18n";
import { useNow, useObjects } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { LogView } from "../../../logs/LogView";
import { clock } from "../../../status/age";
import { Attempts } from "./Attempts";
import { isWithin, type Said, saidIn, stagesOf } from "./stages";
import { Timeline } from "./Timeline";

type Run = Pick<Schemas["Run"], "id" | "action" | "phase"> & { startTime?: string; endTime?: string; reason?: string };

/** The attempt that a run is, which the end of its name counts. */
function attempt(id: string): string {
  return /-(\d+)$/.exec(id)?.[1] ?? id;
}

/** What the tool says in a run: from its log, or from events where the log may not be read. */
function useSaid(name: string, run: Run | undefined): readonly Said[] {
  const events = useObjects("events");
  const runs = run !== undefined && run.endTime === undefined;
  const log = useQuery({
    // Once more when it has ended: what it said last is not in what was read before.
    queryKey: ["runlog", name, run?.id ?? "", run?.endTime ?? ""], enabled: run?.startTime !== undefined, retry: false, refetchInterval: runs ? 5000 : false, staleTime: runs ? 0 : Infinity,
    placeholderData: (before: string | undefined, query) => (query?.queryKey[2] === run?.id ? before : undefined),
    queryFn: ({ signal }) => text(`/v1/clusters/${encodeURIComponent(name)}/log${query({ run: run?.id })}`, signal),
  });
  return useMemo(() => {
    const start = Date.parse(run?.startTime ?? "");
    const said = saidIn((log.data ?? "").split("\n"), start);
    if (said.length > 0) return said;
    const end = run?.endTime ? Date.parse(run.endTime) : Infinity;
    return events.filter(({ involvedObject: of, reason }) => of.kind === "Cluster" && of.name === name && reason === "Stage")
      .map((event): Said => ({ time: Date.parse(event.eventTime ?? event.firstTimestamp ?? ""), text: event.message ?? "" }))
      .filter(({ time }) => time >= start - 1000 && isWithin(time, end));
  }, [log.data, events, name, run?.startTime, run?.endTime]);
}

/** The run of the tool that is under way, or the last one: its stages over time beside the attempt before, and its log. */
export function Operation({ name }: { name: string }) {
  const { say, language } = useLanguage();
  const cluster = useShown("clusters", undefined, name);
  const last = cluster?.status?.lastOperation;
  const listed = useQuery({
    queryKey: ["runs", name, last?.id ?? "", last?.endTime ?? ""], retry: false,
    queryFn: ({ signal }) => read<Schemas["Runs"]>(`/v1/clusters/${encodeURIComponent(name)}/runs`, { signal }),
  });
  const newest = useMemo((): Run | undefined => {
    if (!last) return undefined;
    const out: Run = { id: last.id, action: last.action, phase: last.endTime ? (last.reason ? "Failed" : "Succeeded") : "Running" };
    if (last.startTime) out.startTime = last.startTime;
    if (last.endTime) out.endTime = last.endTime;
    if (last.reason) out.reason = last.reason;
    return out;
  }, [last]);
  const runs: readonly Run[] = useMemo(() => {
    const others = (listed.data?.items ?? []).filter((run) => run.id !== newest?.id);
    return [...(newest ? [newest] : []), ...others];
  }, [listed.data, newest]);
  const [chosen, setChosen] = useState<string>();
  const [following, setFollowing] = useState(true);
  const at = Math.max(0, runs.findIndex((run) => run.id === chosen));
  const run = runs[at];
  const said = useSaid(name, run);
  const now = useNow(1000);
  if (!run) return <Panel title={say("cluster.operation")}><Nothing>{say("cluster.noRun")}</Nothing></Panel>;
  const start = Date.parse(run.startTime ?? "");
  const end = run.endTime ? Date.parse(run.endTime) : now;
  const before = runs[at + 1];
  const sub = say("cluster.since", { attempt: attempt(run.id), time: clock(run.startTime, language, now) });
  const running = run.endTime === undefined;
  const log = [{ path: `/v1/clusters/${encodeURIComponent(name)}/log${query({ run: run.id, tailLines: 500, follow: running && following })}`, format: "text" as const }];
  const choice = runs.length > 1 && (
    <Segments label={say("cluster.attempts")} value={run.id} options={[...runs].slice(0, 5).reverse().map((each) => [each.id, say("cluster.attempt", { attempt: attempt(each.id) })] as const)} onChange={setChosen} />
  );
  return (
    <>
      <Panel title={say("cluster.run", { id: run.id })} sub={sub} flush aside={choice}>
        {Number.isNaN(start) ? <Nothing>{say("cluster.noStages")}</Nothing> : (
          <Timeline stages={stagesOf(said, start, end)} start={start} end={end} running={running} failed={run.phase === "Failed" || run.phase === "Interrupted" ? (run.reason ?? run.phase) : undefined} before={before && before.startTime && before.endTime ? { attempt: attempt(before.id), took: Date.parse(before.endTime) - Date.parse(before.startTime), reason: before.phase === "Succeeded" ? undefined : (before.reason ?? before.phase) } : undefined} />
        )}
        <footer>{say(running ? "cluster.unknownNext" : "cluster.stagesAre")}</footer>
      </Panel>
      {runs.length > 1 && <Attempts runs={runs} attempt={attempt} onChoose={setChosen} />}
      <LogView title={say("cluster.log")} sub={say("cluster.logSub")} name={`${name}-${run.id}`} sources={log} following={running && following} {...(running ? { onFollow: setFollowing } : {})} />
    </>
  );
}
