import { useSay } from "../../../i18n";
import { Shape } from "../../../status/shapes";
import { axis, duration, type Stage } from "./stages";

/** How many stages have a row; earlier ones are counted. */
const most = 14;

/** Stages as bars on one time axis, with the attempt before as a thin line. Nothing is drawn beyond now. */
export function Timeline({ stages, start, end, running, failed, before }: {
  stages: readonly Stage[]; start: number; end: number; running: boolean; failed: string | undefined; before: { attempt: string; took: number; reason: string | undefined } | undefined;
}) {
  const say = useSay();
  const { end: whole, ticks } = axis(Math.max(end - start, before?.took ?? 0));
  const part = (time: number) => `${((100 * time) / whole).toFixed(3)}%`;
  const shown: readonly Stage[] = stages.length > 0 ? stages.slice(-most) : [{ name: say("cluster.whole"), from: start, until: end }];
  return (
    <div className="timeline">
      <div className="lane ticks" aria-hidden="true"><span /><span className="track">{ticks.map((tick) => <i key={tick} style={{ left: part(tick) }}>{duration(tick)}</i>)}</span><span /></div>
      {before && (
        <div className="lane earlier">
          <span className="dim">{say("cluster.attempt", { attempt: before.attempt })}</span>
          <span className="track"><i className={before.reason ? "thin bad" : "thin"} style={{ width: part(before.took) }} /></span>
          <span className="num dim">{duration(before.took)}</span>
          {before.reason && <span className="small dim ended">{say("cluster.endedHere", { attempt: before.attempt, reason: before.reason })}</span>}
        </div>
      )}
      {stages.length > most && <p className="small dim">{say("cluster.earlier", { count: stages.length - most })}</p>}
      <ol>
        {shown.map((stage, index) => {
          const last = index === shown.length - 1;
          const going = last && running;
          const broke = last && failed !== undefined;
          return (
            <li className="lane" key={`${stage.name} ${stage.from}`}>
              <span className="row what"><Shape name={going ? "reconciling" : broke ? "stalled" : "ready"} /><span className={going ? "strong" : undefined} lang="en" title={stage.name}>{stage.name}</span></span>
              <span className="track">
                <i className={going ? "bar go" : broke ? "bar fell" : "bar"} style={{ left: part(stage.from - start), width: part(stage.until - stage.from) }} />
                {running && <u style={{ left: part(end - start) }} />}
              </span>
              <span className="num sub">{going ? say("cluster.soFar", { time: duration(stage.until - stage.from) }) : duration(stage.until - stage.from)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
