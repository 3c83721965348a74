import { useSay } from "../i18n";
import { extremes, type Sample, sparkPath, topOf } from "./series";

const width = 104;
const height = 20;
const hour = 3_600_000;

/** The last hour as a line, beside whose figures it stands. It ends where samples end. */
export function Sparkline({ samples, until, limit, interval = 60_000, what, show }: {
  samples: readonly Sample[]; until: number; limit?: number | undefined; interval?: number; what: string; show: (value: number) => string;
}) {
  const say = useSay();
  const shown = samples.filter((sample) => sample.time >= until - hour && sample.time <= until);
  const found = extremes(shown);
  if (!found) return <span className="spark none" role="img" aria-label={say("usage.noSamples", { what })} />;
  const box = { from: until - hour, until, width, height: height - 3, top: topOf(shown, limit), interval };
  const path = sparkPath(shown, box);
  const at = /([\d.]+) ([\d.]+)$/.exec(path);
  return (
    <svg className="spark" width={width} height={height} viewBox={`0 -1.5 ${width} ${height}`} role="img" aria-label={say("usage.spoken", { what, now: show(found.now), min: show(found.min), max: show(found.max) })}>
      <path d={`M0 ${height - 3}H${width}`} stroke="var(--line)" />
      <path d={path} fill="none" stroke="currentColor" strokeWidth="1.25" strokeLinejoin="round" />
      {at && <circle cx={at[1]} cy={at[2]} r="1.5" fill="currentColor" />}
    </svg>
  );
}
